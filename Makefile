# moka's build. Sources are found, not listed: a new file in the right folder is built and linked.
#
#   make quickstart     installs what is missing, builds, trains LeNet on Fashion-MNIST
#   make runtest        builds and runs all tests
#   make help           every target
#
# Makefile.config is optional: what it can set (see Makefile.config.example) is detected.

-include Makefile.config

BUILD_DIR ?= build$(if $(SANITIZE),-$(SANITIZE))$(if $(DEBUG),-debug)
.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules

include scripts/config.mk

# --- sources --------------------------------------------------------------------------------------
# $(call sources,FOLDER): its .cpp files, without those of optional libraries that are not there.
unwanted := $(addprefix /,$(addsuffix /,$(OFF) $(addprefix no_,$(ON))))
sources = $(foreach s,$(sort $(shell find $(1) -name "*.cpp" 2>/dev/null)),\
            $(if $(strip $(foreach u,$(unwanted),$(findstring $(u),$(s)))),,$(s)))

TEST_SOURCES := $(call sources,src/moka/test)
LIB_SOURCES := $(filter-out src/moka/test/%,$(call sources,src/moka))
COMMAND_SOURCES := $(call sources,tools/commands)
TOOL_SOURCES := $(wildcard tools/*.cpp)
# A folder of an example holds programs of one file each, or, beside a .proto, a plug-in.
PLUGIN_PROTOS := $(wildcard examples/*/*.proto)
PLUGIN_SOURCES := $(foreach d,$(dir $(PLUGIN_PROTOS)),$(wildcard $(d)*.cpp))
EXAMPLE_SOURCES := $(filter-out $(PLUGIN_SOURCES),$(wildcard examples/*/*.cpp))
SOURCES := $(LIB_SOURCES) $(TEST_SOURCES) $(COMMAND_SOURCES) $(TOOL_SOURCES) $(EXAMPLE_SOURCES) \
  $(PLUGIN_SOURCES)

objects = $(patsubst %.cpp,$(BUILD_DIR)/obj/%.o,$(1))
PROTO := $(wildcard src/moka/proto/moka.proto)
GEN := $(BUILD_DIR)/gen
PROTO_HEADER := $(if $(PROTO),$(GEN)/moka/proto/moka.pb.h)
PROTO_OBJECTS := $(if $(PROTO),$(addprefix $(BUILD_DIR)/obj/gen/,moka.pb.o moka_schema.o))
LIB_OBJECTS := $(call objects,$(LIB_SOURCES)) $(PROTO_OBJECTS)

LIB := $(BUILD_DIR)/lib/libmoka.so
TESTS := $(if $(TEST_SOURCES),$(BUILD_DIR)/test/moka_tests)
TOOLS := $(patsubst tools/%.cpp,$(BUILD_DIR)/tools/%,$(TOOL_SOURCES))
# Names under which Caffe's users know the program: it acts as the command that is called so.
CAFFE_NAMES := caffe convert_imageset compute_image_mean extract_features \
  upgrade_net_proto_text upgrade_net_proto_binary upgrade_solver_proto_text
CAFFE := $(if $(filter %/moka,$(TOOLS)),$(addprefix $(BUILD_DIR)/tools/,$(CAFFE_NAMES)))
EXAMPLES := $(patsubst examples/%.cpp,$(BUILD_DIR)/examples/%,$(EXAMPLE_SOURCES))
PLUGINS := $(patsubst examples/%.proto,$(BUILD_DIR)/examples/%.so,$(PLUGIN_PROTOS))

# --- what the build cannot do without ---------------------------------------------------------------
BUILDING := $(filter-out clean deps help config format quickstart distribute,$(or $(MAKECMDGOALS),all))
ifneq ($(and $(BUILDING),$(strip $(MISSING))),)
  $(error moka needs $(strip $(MISSING)) (Debian package names): `make deps` installs what is missing)
endif

# A file that holds TEXT and is rewritten only when TEXT changed: what depends on it is then rebuilt.
# $(call stamp,NAME,TEXT)
STAMPS := $(BUILD_DIR)/stamps
stamp = $(shell mkdir -p $(STAMPS) && \
  { printf '%s\n' '$(2)' | cmp -s - $(STAMPS)/$(1) || printf '%s\n' '$(2)' > $(STAMPS)/$(1); })
ifneq ($(BUILDING),)
  $(call stamp,compile,$(CXX) $(ALL_CXXFLAGS))
  $(call stamp,nvcc,$(NVCC) $(ALL_NVCCFLAGS))
  $(call stamp,link,$(CXX) $(ALL_LDFLAGS) $(LIB_OBJECTS) $(LIBRARIES))
  $(call stamp,tests,$(TEST_SOURCES))
  $(call stamp,commands,$(COMMAND_SOURCES))
endif

# --- targets --------------------------------------------------------------------------------------
.PHONY: all test runtest quickstart deps install distribute clean format lint config help
all: $(LIB) $(TOOLS) $(CAFFE) $(EXAMPLES) $(PLUGINS)  ## the library, the tools and the examples
test: $(TESTS)  ## builds the tests
runtest: all test  ## builds and runs all tests; FILTER='Pooling*' only some of the GoogleTest ones
	@scripts/run_tests.sh $(BUILD_DIR) $(if $(FILTER),'--gtest_filter=$(FILTER)')

quickstart:  ## installs what is missing, builds, trains LeNet on Fashion-MNIST, tests and classifies
	@scripts/install_deps.sh
	@$(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc)) all
	@BUILD_DIR=$(BUILD_DIR) examples/fashion_mnist/quickstart.sh

deps:  ## installs the Debian packages that moka is built from
	@scripts/install_deps.sh

# The tree under PREFIX can be moved: the programs find the library beside them.
PREFIX ?= /usr/local
DEST = $(DESTDIR)$(PREFIX)
install: all  ## copies programs, library, headers, models and examples to PREFIX (/usr/local)
	@mkdir -p $(DEST)/bin $(DEST)/lib $(DEST)/include $(DEST)/share/moka
	cp -P $(TOOLS) $(CAFFE) $(DEST)/bin
	cp $(dir $(LIB))* $(DEST)/lib
	cp -R include/moka $(if $(PROTO),$(GEN)/moka) $(DEST)/include
	$(if $(PROTO),cp $(PROTO) $(DEST)/include/moka/proto)
	@rm -f $(DEST)/include/moka/proto/*.cc
	tar -c --exclude='*_lmdb' --exclude='*.caffemodel' --exclude='*.solverstate' --exclude='*.cpp' \
	  $(wildcard models examples) LICENSE | tar -x -C $(DEST)/share/moka
	$(if $(EXAMPLES),cd $(BUILD_DIR) && tar -c examples | tar -x -C $(abspath $(DEST)/share/moka))

distribute:  ## a tree that can be copied to another machine, in distribute/
	@$(MAKE) --no-print-directory install PREFIX=$(CURDIR)/distribute DESTDIR=

clean:  ## removes what was built
	rm -rf $(BUILD_DIR) distribute

FORMATTED := $(shell find include src tools examples python -name '*.cpp' -o -name '*.hpp' 2>/dev/null)
format:  ## formats all sources; CHECK=1 only says what is not formatted
	@clang-format $(if $(CHECK),--dry-run -Werror,-i) $(FORMATTED)

# -DMOKA_CUDA is left out: clang reads the files with kernels as plain C++.
lint: $(PROTO_HEADER)  ## clang-tidy over the files that differ from main; ALL=1 over all
	@files="$(if $(ALL),$(SOURCES),$(filter $(SOURCES),$(shell git diff --name-only main -- '*.cpp' 2>/dev/null)))"; \
	[ -z "$$files" ] || echo "$$files" | xargs -n 1 | xargs -I% -P $(shell nproc) clang-tidy --quiet \
	  --extra-arg-before=-xc++ $(if $(filter 1,$(WERROR)),--warnings-as-errors='*') % -- \
	  $(filter-out -DMOKA_CUDA,$(ALL_CXXFLAGS))

config:  ## shows what was found and the flags that follow from it
	@echo 'found:       $(or $(strip $(ON)),nothing optional)'
	@echo 'not used:    $(strip $(OFF))'
	@echo 'missing:     $(or $(strip $(MISSING)),nothing that is required)'
	@echo 'compiler:    $(CXX)'
	@echo 'flags:       $(ALL_CXXFLAGS)'
	@echo 'libraries:   $(strip $(LIBRARIES))'
	$(if $(WITH_CUDA),@echo 'nvcc:        $(NVCC) $(ALL_NVCCFLAGS)')

help:  ## shows this
	@sed -nE 's/^([a-z]+):.*## (.*)/make \1\t\2/p' Makefile | expand -t 18

# --- rules ----------------------------------------------------------------------------------------
# V=1 shows the commands.
Q := $(if $(V),,@)
say = @printf '  %-5s %s\n' $(1) $(2)
RPATH = -Wl,-rpath,'$$ORIGIN$(1)'

# The files with kernels in them: nvcc compiles these, g++ all others.
DEVICE_SOURCES := $(if $(WITH_CUDA),$(shell scripts/device_sources.sh $(SOURCES)))
$(call objects,$(DEVICE_SOURCES)): $(BUILD_DIR)/obj/%.o: %.cpp $(STAMPS)/nvcc | $(PROTO_HEADER)
	$(call say,NVCC,$<)
	@mkdir -p $(@D)
	$(Q)$(NVCC) $(ALL_NVCCFLAGS) -MMD -MP -MF $(@:.o=.d) -c $< -o $@

$(call objects,$(filter-out $(DEVICE_SOURCES),$(SOURCES))): \
    $(BUILD_DIR)/obj/%.o: %.cpp $(STAMPS)/compile | $(PROTO_HEADER)
	$(call say,CXX,$<)
	@mkdir -p $(@D)
	$(Q)$(CXX) $(ALL_CXXFLAGS) -MMD -MP -c $< -o $@

ifneq ($(PROTO),)
# The descriptors with their comments: `moka help` prints the comments as the manual.
$(GEN)/moka/proto/moka.pb.cc $(PROTO_HEADER) $(GEN)/moka.desc &: $(PROTO)
	$(call say,PROTO,$<)
	@mkdir -p $(GEN)
	$(Q)$(PROTOC) -Isrc --cpp_out=$(GEN) --include_imports --include_source_info \
	  --descriptor_set_out=$(GEN)/moka.desc $<

# Generated and big: neither sanitizers nor the highest optimisation are worth their time here.
$(BUILD_DIR)/obj/gen/moka.pb.o: $(GEN)/moka/proto/moka.pb.cc $(PROTO_HEADER) $(STAMPS)/compile
	$(call say,CXX,$<)
	@mkdir -p $(@D)
	$(Q)$(CXX) $(filter-out -fsanitize=% -march=% -O3,$(ALL_CXXFLAGS)) -O2 -w -c $< -o $@

$(GEN)/moka_schema.S: Makefile
	@mkdir -p $(@D)
	@printf '%s\n' '.section .rodata' \
	  '.global moka_schema_begin, moka_schema_end' '.hidden moka_schema_begin, moka_schema_end' \
	  'moka_schema_begin: .incbin "$(GEN)/moka.desc"' 'moka_schema_end: .byte 0' \
	  '.section .note.GNU-stack,"",@progbits' > $@

$(BUILD_DIR)/obj/gen/moka_schema.o: $(GEN)/moka_schema.S $(GEN)/moka.desc
	@mkdir -p $(@D)
	$(Q)$(lastword $(CXX)) -c $< -o $@
endif

ifneq ($(LAZY),)
LAZY_OBJECT := $(BUILD_DIR)/obj/gen/lazy.o
$(GEN)/lazy.S: $(LIB_OBJECTS) scripts/lazy_libraries.sh
	@mkdir -p $(@D)
	$(Q)scripts/lazy_libraries.sh $(LAZY) -- $(LIB_OBJECTS) > $@

$(LAZY_OBJECT): $(GEN)/lazy.S
	@mkdir -p $(@D)
	$(Q)$(lastword $(CXX)) -c $< -o $@
endif

$(LIB): $(LIB_OBJECTS) $(LAZY_OBJECT) $(STAMPS)/link
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(if $(CUDART),@cp $(CUDART) $(@D))
	$(Q)$(CXX) -shared -Wl,-soname,libmoka.so -Wl,--no-undefined $(call RPATH) $(ALL_LDFLAGS) \
	  $(LIB_OBJECTS) $(LAZY_OBJECT) $(LIBRARIES) -o $@

# $(call link_program,FOLDERS): where the library is, seen from the program
link_program = $(CXX) $(foreach f,$(1),$(call RPATH,$(f))) $(ALL_LDFLAGS) $(filter %.o,$^) -L$(BUILD_DIR)/lib -lmoka $(LIBRARIES)

$(BUILD_DIR)/tools/moka: $(call objects,$(COMMAND_SOURCES)) $(STAMPS)/commands
$(TOOLS): $(BUILD_DIR)/tools/%: $(BUILD_DIR)/obj/tools/%.o $(LIB)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(call link_program,/../lib) -o $@

$(CAFFE): $(BUILD_DIR)/tools/moka
	@ln -sf moka $@

$(EXAMPLES): $(BUILD_DIR)/examples/%: $(BUILD_DIR)/obj/examples/%.o $(LIB)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(call link_program,/../../lib /../../../../lib) -o $@

# A plug-in finds the library in the program that loads it.
$(GEN)/plugins/%.pb.cc $(GEN)/plugins/%.pb.h: examples/%.proto
	$(call say,PROTO,$<)
	@mkdir -p $(@D)
	$(Q)$(PROTOC) -I$(<D) -Isrc --cpp_out=$(@D) $<

$(call objects,$(PLUGIN_SOURCES)): $(patsubst examples/%.proto,$(GEN)/plugins/%.pb.h,$(PLUGIN_PROTOS))
$(call objects,$(PLUGIN_SOURCES)): INCLUDES += $(addprefix -I$(GEN)/plugins/,\
  $(patsubst examples/%,%,$(sort $(dir $(PLUGIN_PROTOS)))))

$(PLUGINS): $(BUILD_DIR)/examples/%.so: $(GEN)/plugins/%.pb.cc $(call objects,$(PLUGIN_SOURCES)) $(STAMPS)/link
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CXX) -shared -w $(filter-out -O3,$(ALL_CXXFLAGS)) -O2 $(ALL_LDFLAGS) $< \
	  $(filter $(BUILD_DIR)/obj/$(patsubst $(BUILD_DIR)/%,%,$(@D))/%.o,$^) -lprotobuf -o $@

TEST_MAIN := $(if $(filter src/moka/test/main.cpp,$(TEST_SOURCES)),,-lgtest_main)
$(TESTS): $(call objects,$(TEST_SOURCES)) $(LIB) $(STAMPS)/tests
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(call link_program,/../lib) $(TEST_MAIN) -lgtest -o $@

-include $(patsubst %.o,%.d,$(call objects,$(SOURCES)))

#include "moka/layers/dnnl/dnnl_tools.hpp"

#include <omp.h>

#include "moka/base/strings.hpp"

namespace moka {
namespace {

dnnl::memory DnnlMemory(const dnnl::memory::desc& desc, const void* data) {
  return dnnl::memory(desc, DnnlEngine(), const_cast<void*>(data));
}

void Reorder(Context& context, const dnnl::memory::desc& from, const void* source,
             const dnnl::memory::desc& to, void* target) {
  const DnnlThreads threads(context);
  // oneDNN keeps the primitives that were made last: making one again costs little.
  const dnnl::reorder::primitive_desc description(DnnlEngine(), from, DnnlEngine(), to);
  dnnl::stream stream(DnnlEngine());
  dnnl::memory in = DnnlMemory(from, source), out = DnnlMemory(to, target);
  dnnl::reorder(description).execute(stream, in, out);
}

}  // namespace

const dnnl::engine& DnnlEngine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

DnnlThreads::DnnlThreads(const Context& context) : before_(omp_get_max_threads()) {
  omp_set_num_threads(context.threads());
}

DnnlThreads::~DnnlThreads() { omp_set_num_threads(before_); }

std::string DnnlLayout::name() const {
  const dnnl_blocking_desc_t& blocks = desc_.data.format_desc.blocking;
  std::string name = "oneDNN";
  for (int i = 0; i < blocks.inner_nblks; ++i) {
    name += Text(i == 0 ? " " : " x ", blocks.inner_blks[i], " of axis ", blocks.inner_idxs[i]);
  }
  return name;
}

bool DnnlLayout::Equals(const Layout& other) const {
  const auto* dnnl = dynamic_cast<const DnnlLayout*>(&other);
  return dnnl != nullptr && dnnl->desc_ == desc_;
}

void DnnlLayout::FromPlain(Context& context, const float* plain, void* foreign) const {
  Reorder(context, PlainDesc(desc_.dims()), plain, desc_, foreign);
}

void DnnlLayout::ToPlain(Context& context, const void* foreign, float* plain) const {
  Reorder(context, desc_, foreign, PlainDesc(desc_.dims()), plain);
}

bool DnnlLayout::FromForeign(Context& context, const Layout& other, const void* from,
                             void* to) const {
  const auto* dnnl = dynamic_cast<const DnnlLayout*>(&other);
  if (dnnl == nullptr || dnnl->desc_.dims() != desc_.dims()) return false;
  Reorder(context, dnnl->desc_, from, desc_, to);
  return true;
}

/// Channels in whole blocks: an item is then as contiguous as a plain one.
std::shared_ptr<const Layout> DnnlLayout::WithLength(int axis, int64_t length) const {
  using Tag = dnnl::memory::format_tag;
  dnnl::memory::dims dims = desc_.dims();
  for (const auto& [tag, block] : {std::pair{Tag::nChw16c, 16}, std::pair{Tag::nChw8c, 8}}) {
    if (axis != 1 || dims.size() != 4 || dims[1] % block != 0 || length % block != 0) continue;
    if (desc_ != dnnl::memory::desc(dims, dnnl::memory::data_type::f32, tag)) continue;
    dims[1] = length;
    return std::make_shared<DnnlLayout>(
        dnnl::memory::desc(dims, dnnl::memory::data_type::f32, tag));
  }
  return nullptr;
}

dnnl::memory::desc PlainDesc(const dnnl::memory::dims& dims) {
  dnnl::memory::dims strides(dims.size(), 1);
  for (size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return dnnl::memory::desc(dims, dnnl::memory::data_type::f32, strides);
}

dnnl::memory::desc AnyDesc(const dnnl::memory::dims& dims) {
  return dnnl::memory::desc(dims, dnnl::memory::data_type::f32, dnnl::memory::format_tag::any);
}

dnnl::memory::desc DescOf(const Context& context, const Tensor& tensor) {
  const auto foreign = tensor.ForeignLayout(context);
  const auto* layout = dynamic_cast<const DnnlLayout*>(foreign.get());
  return layout == nullptr ? PlainDesc(tensor.shape().dims()) : layout->desc();
}

bool IsBlocked(const Context& context, const Tensor& tensor) {
  return tensor.shape().axes() > 0 && tensor.count() > 0 &&
         DescOf(context, tensor) != PlainDesc(tensor.shape().dims());
}

dnnl::memory ReadDnnl(Context& context, const Tensor& tensor, const dnnl::memory::desc& desc) {
  if (desc == PlainDesc(desc.dims())) return DnnlMemory(desc, tensor.Read(context));
  return DnnlMemory(desc, tensor.ReadAs(context, std::make_shared<DnnlLayout>(desc)));
}

dnnl::memory WriteDnnl(Context& context, Tensor* tensor, const dnnl::memory::desc& desc) {
  if (desc == PlainDesc(desc.dims())) return DnnlMemory(desc, tensor->Write(context));
  return DnnlMemory(desc, tensor->WriteAs(context, std::make_shared<DnnlLayout>(desc)));
}

dnnl::primitive_attr DnnlAttributes() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

void RunDnnl(Context& context, const DnnlPrimitive& primitive, DnnlArguments arguments) {
  const DnnlThreads threads(context);
  if (primitive.scratch.get_size() > 0) {
    const auto floats = static_cast<int64_t>((primitive.scratch.get_size() + 3) / sizeof(float));
    arguments[DNNL_ARG_SCRATCHPAD] = DnnlMemory(primitive.scratch, context.Scratch(floats));
  }
  dnnl::stream stream(DnnlEngine());
  primitive.primitive.execute(stream, arguments);
}

}  // namespace moka

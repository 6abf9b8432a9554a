#pragma once

#include <dnnl.hpp>
#include <memory>
#include <string>
#include <unordered_map>

#include "moka/device/context.hpp"
#include "moka/tensor/tensor.hpp"

namespace moka {

/// oneDNN's engine of this processor. It has no state of its own.
const dnnl::engine& DnnlEngine();

/// While it lives, oneDNN plans and works with as many threads as the context has.
class DnnlThreads {
 public:
  explicit DnnlThreads(const Context& context);
  ~DnnlThreads();
  DnnlThreads(const DnnlThreads&) = delete;
  DnnlThreads& operator=(const DnnlThreads&) = delete;

 private:
  int before_;
};

/// One of oneDNN's formats: blocked (channels in groups of 16, padded with zeros) or any other.
class DnnlLayout : public Layout {
 public:
  explicit DnnlLayout(const dnnl::memory::desc& desc) : desc_(desc) {}

  const dnnl::memory::desc& desc() const { return desc_; }

  std::string name() const override;
  size_t bytes() const override { return desc_.get_size(); }
  Shape shape() const override { return Shape(desc_.dims()); }
  bool Equals(const Layout& other) const override;
  void FromPlain(Context& context, const float* plain, void* foreign) const override;
  void ToPlain(Context& context, const void* foreign, float* plain) const override;
  bool FromForeign(Context& context, const Layout& other, const void* from,
                   void* to) const override;
  std::shared_ptr<const Layout> WithLength(int axis, int64_t length) const override;

 private:
  dnnl::memory::desc desc_;
};

/// Row-major float32.
dnnl::memory::desc PlainDesc(const dnnl::memory::dims& dims);

/// float32 in the format that a primitive likes best.
dnnl::memory::desc AnyDesc(const dnnl::memory::dims& dims);

/// How the tensor is stored now: oneDNN's format of a valid copy with the tensor's own axes, or
/// row-major.
dnnl::memory::desc DescOf(const Context& context, const Tensor& tensor);

/// Whether the tensor has a valid copy in a format of oneDNN's that is not row-major.
bool IsBlocked(const Context& context, const Tensor& tensor);

/// The tensor in the format, for reading or for writing every element.
dnnl::memory ReadDnnl(Context& context, const Tensor& tensor, const dnnl::memory::desc& desc);
dnnl::memory WriteDnnl(Context& context, Tensor* tensor, const dnnl::memory::desc& desc);

/// For creating primitives whose scratch memory the caller gives, see `RunDnnl`.
dnnl::primitive_attr DnnlAttributes();

using DnnlArguments = std::unordered_map<int, dnnl::memory>;

/// A primitive ready to run, and the scratch memory it wants.
struct DnnlPrimitive {
  dnnl::primitive primitive;
  dnnl::memory::desc scratch;

  template <typename Description>
  static DnnlPrimitive Of(const Description& description) {
    return {dnnl::primitive(description.get()), description.scratchpad_desc()};
  }
};

/// Runs it with scratch memory of the context.
void RunDnnl(Context& context, const DnnlPrimitive& primitive, DnnlArguments arguments);

}  // namespace moka

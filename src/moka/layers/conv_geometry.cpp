#include "moka/layers/conv_geometry.hpp"

#include "moka/base/error.hpp"
#include "moka/proto/source.hpp"

namespace moka {
namespace {

using Values = google::protobuf::RepeatedField<uint32_t>;

std::string Path(const std::string& field) { return "convolution_param." + field; }

/// A field that is given for all spatial axes at once, for each, or as FIELD_h and FIELD_w.
struct AxisField {
  std::string name;  // of the repeated field
  std::string stem;  // of the fields for two axes: "kernel" of "kernel_h"
  const Values& values;
  bool has_h = false;
  bool has_w = false;
  uint32_t h = 0;
  uint32_t w = 0;

  bool given() const { return !values.empty() || has_h || has_w; }

  /// The field to point at when something is wrong with an axis.
  std::string PathOf(int axis) const {
    if (has_h || has_w) return Path(stem + (axis == 0 && has_h ? "_h" : "_w"));
    return Path(values.size() > 1 ? Text(name, "[", axis, "]") : name);
  }
};

/// The field's value for each axis; `missing` where it is not given.
std::vector<int64_t> ValuesOf(const LayerParameter& layer, const AxisField& field, int axes,
                              int64_t missing) {
  if (field.has_h || field.has_w) {
    const std::string given = field.stem + (field.has_h ? "_h" : "_w");
    if (!field.values.empty()) {
      FailAt(layer, Path(given), given, " and ", field.name, " are both given: keep one of them");
    }
    if (axes != 2) {
      FailAt(layer, Path(given), given, " is for two spatial axes, but the bottom has ", axes,
             ": give ", field.name, " once for each axis");
    }
    return {field.has_h ? field.h : missing, field.has_w ? field.w : missing};
  }
  const int count = field.values.size();
  if (count > 1 && count != axes) {
    FailAt(layer, Path(field.name), field.name, " is given ", count, " times, but the bottom has ",
           axes, " spatial axes: give it once, or once for each");
  }
  std::vector<int64_t> result(axes, missing);
  for (int axis = 0; axis < axes && count > 0; ++axis) {
    result[axis] = field.values.Get(count == 1 ? 0 : axis);
  }
  return result;
}

std::vector<int64_t> PositiveValuesOf(const LayerParameter& layer, const AxisField& field, int axes,
                                      int64_t missing) {
  const std::vector<int64_t> values = ValuesOf(layer, field, axes, missing);
  for (int axis = 0; axis < axes; ++axis) {
    if (values[axis] == 0) FailAt(layer, field.PathOf(axis), field.name, " must not be 0");
  }
  return values;
}

void ReadPads(const LayerParameter& layer, std::vector<ConvAxis>* axes) {
  const ConvolutionParameter& param = layer.convolution_param();
  const AxisField pad{
      "pad",         "pad",        param.pad(), param.has_pad_h(), param.has_pad_w(),
      param.pad_h(), param.pad_w()};
  const int count = static_cast<int>(axes->size());
  if (param.has_pad_t() || param.has_pad_b() || param.has_pad_l() || param.has_pad_r()) {
    const std::string side = param.has_pad_t()   ? "pad_t"
                             : param.has_pad_b() ? "pad_b"
                             : param.has_pad_l() ? "pad_l"
                                                 : "pad_r";
    if (pad.given()) FailAt(layer, Path(side), side, " and pad are both given: keep one of them");
    if (count != 2) {
      FailAt(layer, Path(side), side, " is for two spatial axes, but the bottom has ", count);
    }
    (*axes)[0].pad_begin = param.pad_t();
    (*axes)[0].pad_end = param.pad_b();
    (*axes)[1].pad_begin = param.pad_l();
    (*axes)[1].pad_end = param.pad_r();
    return;
  }
  const std::vector<int64_t> values = ValuesOf(layer, pad, count, 0);
  for (int axis = 0; axis < count; ++axis) {
    (*axes)[axis].pad_begin = (*axes)[axis].pad_end = values[axis];
  }
}

void ReadKernels(const LayerParameter& layer, std::vector<ConvAxis>* axes) {
  const ConvolutionParameter& param = layer.convolution_param();
  const AxisField field{
      "kernel_size",        "kernel",         param.kernel_size(), param.has_kernel_h(),
      param.has_kernel_w(), param.kernel_h(), param.kernel_w()};
  const int count = static_cast<int>(axes->size());
  if (count > 0 && !field.given()) {
    FailAt(layer, "convolution_param", "the size of the kernel is missing: give kernel_size");
  }
  if (param.has_kernel_h() != param.has_kernel_w()) {
    const char* given = param.has_kernel_h() ? "kernel_h" : "kernel_w";
    FailAt(layer, Path(given), given, " is given without ",
           param.has_kernel_h() ? "kernel_w" : "kernel_h", ": give both, or kernel_size");
  }
  const std::vector<int64_t> values = PositiveValuesOf(layer, field, count, 0);
  for (int axis = 0; axis < count; ++axis) (*axes)[axis].kernel = values[axis];
}

/// " along spatial axis 1", where there are several.
std::string Along(const ConvFields& fields, size_t axis) {
  return fields.axes.size() > 1 ? Text(" along spatial axis ", axis) : "";
}

}  // namespace

ConvFields ReadConvFields(const LayerParameter& layer, const Shape& bottom) {
  const ConvolutionParameter& param = layer.convolution_param();
  ConvFields fields;
  if (param.axis() < -bottom.axes() || param.axis() >= bottom.axes()) {
    FailAt(layer, Path("axis"), "axis ", param.axis(), " of channels, but bottom \"",
           layer.bottom_size() > 0 ? layer.bottom(0) : "", "\" has ", bottom.axes(), " axes (",
           bottom, ")");
  }
  fields.channel_axis = bottom.Axis(param.axis());
  const int count = bottom.axes() - fields.channel_axis - 1;
  if (count > ConvWindow::kMaxAxes) {
    FailAt(layer, Path("axis"), count, " spatial axes are more than ", ConvWindow::kMaxAxes);
  }
  fields.axes.resize(count);
  ReadKernels(layer, &fields.axes);
  ReadPads(layer, &fields.axes);
  const std::vector<int64_t> stride =
      PositiveValuesOf(layer,
                       {"stride", "stride", param.stride(), param.has_stride_h(),
                        param.has_stride_w(), param.stride_h(), param.stride_w()},
                       count, 1);
  const std::vector<int64_t> dilation =
      PositiveValuesOf(layer, {"dilation", "dilation", param.dilation()}, count, 1);
  for (int axis = 0; axis < count; ++axis) {
    fields.axes[axis].stride = stride[axis];
    fields.axes[axis].dilation = dilation[axis];
  }
  return fields;
}

std::vector<int64_t> ConvOutput(const LayerParameter& layer, const ConvFields& fields,
                                const Shape& image) {
  std::vector<int64_t> output;
  for (size_t i = 0; i < fields.axes.size(); ++i) {
    const ConvAxis& axis = fields.axes[i];
    const int64_t length = image[fields.channel_axis + 1 + static_cast<int>(i)];
    const int64_t padded = length + axis.pad_begin + axis.pad_end;
    if (padded < axis.Extent()) {
      FailAt(layer, "convolution_param", "the kernel does not fit", Along(fields, i),
             ": it covers ", axis.Extent(), " pixels (kernel ", axis.kernel, ", dilation ",
             axis.dilation, "), the image (", image, ") has ", length, " and ",
             axis.pad_begin + axis.pad_end,
             " of padding\n  lower the kernel size, or give more pad");
    }
    output.push_back((padded - axis.Extent()) / axis.stride + 1);
  }
  return output;
}

std::vector<int64_t> DeconvOutput(const LayerParameter& layer, const ConvFields& fields,
                                  const Shape& maps) {
  std::vector<int64_t> output;
  for (size_t i = 0; i < fields.axes.size(); ++i) {
    const ConvAxis& axis = fields.axes[i];
    const int64_t length = maps[fields.channel_axis + 1 + static_cast<int>(i)];
    const int64_t grown = (length - 1) * axis.stride + axis.Extent();
    if (length == 0 || grown <= axis.pad_begin + axis.pad_end) {
      FailAt(layer, "convolution_param", "nothing is left of the output", Along(fields, i),
             ": the bottom (", maps, ") gives ", grown, " pixels, and ",
             axis.pad_begin + axis.pad_end, " of padding are cut off\n  lower pad");
    }
    output.push_back(grown - axis.pad_begin - axis.pad_end);
  }
  return output;
}

int64_t ConvGroups(const LayerParameter& layer, int64_t channels) {
  const ConvolutionParameter& param = layer.convolution_param();
  if (param.num_output() == 0) {
    FailAt(layer, param.has_num_output() ? Path("num_output") : "convolution_param",
           "num_output (the number of output channels) is ",
           param.has_num_output() ? "0" : "missing");
  }
  const bool depthwise = layer.type().find("Depthwise") != std::string::npos;
  const int64_t groups = depthwise && !param.has_group() ? channels : param.group();
  if (groups == 0) FailAt(layer, Path("group"), "group must not be 0");
  if (channels == 0 || channels % groups != 0) {
    FailAt(layer, Path("group"), "group ", groups, " does not divide the ", channels,
           " channels of the bottom");
  }
  if (param.num_output() % groups != 0) {
    FailAt(layer, Path(param.has_group() ? "group" : "num_output"), "group ", groups,
           " does not divide num_output ", param.num_output());
  }
  return groups;
}

ConvWindow::ConvWindow(const ConvFields& fields, int64_t image_channels,
                       const std::vector<int64_t>& image_dims, const std::vector<int64_t>& map_dims)
    : channels(image_channels) {
  const int given = static_cast<int>(fields.axes.size());
  axes = given < 2 ? 2 : given;
  for (int axis = 0; axis < axes; ++axis) {
    const int from = axis - (axes - given);
    const ConvAxis own = from < 0 ? ConvAxis() : fields.axes[from];
    kernel[axis] = own.kernel;
    stride[axis] = own.stride;
    dilation[axis] = own.dilation;
    pad[axis] = own.pad_begin;
    image[axis] = from < 0 ? 1 : image_dims[from];
    map[axis] = from < 0 ? 1 : map_dims[from];
    taps *= kernel[axis];
    image_size *= image[axis];
    map_size *= map[axis];
  }
}

bool ConvWindow::IsPointwise() const {
  for (int axis = 0; axis < axes; ++axis) {
    if (kernel[axis] != 1 || stride[axis] != 1 || pad[axis] != 0 || image[axis] != map[axis]) {
      return false;
    }
  }
  return true;
}

}  // namespace moka

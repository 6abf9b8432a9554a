#include "moka/data/part_sampler.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "moka/base/error.hpp"

namespace moka {
namespace {

bool IsWhole(const Sampler& sampler) {
  return sampler.min_scale() == 1 && sampler.max_scale() == 1;
}

/// A part with random scale and aspect ratio, at a random place. Aspect ratios that would reach
/// beyond the picture are left out.
Box RandomPart(const Sampler& sampler, Draws* draws) {
  const float scale = draws->Uniform(sampler.min_scale(), sampler.max_scale());
  const float least = std::max(sampler.min_aspect_ratio(), scale * scale);
  const float most = std::min(sampler.max_aspect_ratio(), 1 / (scale * scale));
  const float root = std::sqrt(draws->Uniform(least, most));
  const float width = std::min(1.0f, scale * root), height = std::min(1.0f, scale / root);
  const float left = draws->Uniform(0, 1 - width), top = draws->Uniform(0, 1 - height);
  return {left, top, left + width, top + height};
}

bool MeetsFor(const SampleConstraint& constraint, const Box& part, const Box& object) {
  const float overlap = Overlap(part, object);
  if (constraint.has_min_jaccard_overlap() && overlap < constraint.min_jaccard_overlap()) {
    return false;
  }
  if (constraint.has_max_jaccard_overlap() && overlap > constraint.max_jaccard_overlap()) {
    return false;
  }
  const float of_part = Coverage(part, object), of_object = Coverage(object, part);
  if (constraint.has_min_sample_coverage() && of_part < constraint.min_sample_coverage()) {
    return false;
  }
  if (constraint.has_max_sample_coverage() && of_part > constraint.max_sample_coverage()) {
    return false;
  }
  if (constraint.has_min_object_coverage() && of_object < constraint.min_object_coverage()) {
    return false;
  }
  return !constraint.has_max_object_coverage() || of_object <= constraint.max_object_coverage();
}

bool HasBounds(const SampleConstraint& constraint) {
  return constraint.has_min_jaccard_overlap() || constraint.has_max_jaccard_overlap() ||
         constraint.has_min_sample_coverage() || constraint.has_max_sample_coverage() ||
         constraint.has_min_object_coverage() || constraint.has_max_object_coverage();
}

bool Meets(const SampleConstraint& constraint, const Box& part, const Objects& objects) {
  if (!HasBounds(constraint)) return true;
  return std::any_of(objects.begin(), objects.end(),
                     [&](const Object& object) { return MeetsFor(constraint, part, object.box); });
}

void AddParts(const BatchSampler& sampler, const Objects& objects, Draws* draws,
              std::vector<Box>* parts) {
  uint32_t found = 0;
  for (uint32_t trial = 0; trial < sampler.max_trials(); ++trial) {
    if (sampler.has_max_sample() && found >= sampler.max_sample()) return;
    const Box part = RandomPart(sampler.sampler(), draws);
    if (!Meets(sampler.sample_constraint(), part, objects)) continue;
    parts->push_back(part);
    ++found;
  }
}

}  // namespace

bool SamplesParts(const AnnotatedDataParameter& param) {
  return std::any_of(param.batch_sampler().begin(), param.batch_sampler().end(),
                     [](const BatchSampler& sampler) { return !IsWhole(sampler.sampler()); });
}

Box SamplePart(const AnnotatedDataParameter& param, const Objects& objects, Draws* draws) {
  std::vector<Box> parts;
  for (const BatchSampler& sampler : param.batch_sampler()) {
    if (sampler.use_original_image()) AddParts(sampler, objects, draws, &parts);
  }
  if (parts.empty()) return {0, 0, 1, 1};
  return parts[draws->Below(static_cast<int64_t>(parts.size()))];
}

void CheckSamplers(const AnnotatedDataParameter& param) {
  for (const BatchSampler& batch_sampler : param.batch_sampler()) {
    const Sampler& sampler = batch_sampler.sampler();
    Require(0 < sampler.min_scale() && sampler.min_scale() <= sampler.max_scale() &&
                sampler.max_scale() <= 1,
            "annotated_data_param: a sampler has scales from ", sampler.min_scale(), " to ",
            sampler.max_scale(), ": they are shares of the picture, above 0 and at most 1");
    Require(0 < sampler.min_aspect_ratio() && sampler.min_aspect_ratio() <= 1 &&
                sampler.max_aspect_ratio() >= 1,
            "annotated_data_param: a sampler has aspect ratios from ", sampler.min_aspect_ratio(),
            " to ", sampler.max_aspect_ratio(), ": 1 must lie between them");
  }
}

}  // namespace moka

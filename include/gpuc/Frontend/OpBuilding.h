// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fills an OperationState for NodeContext::create without ever running an op's own type inference: ODS's
// inferring builders end the process when operands are ill-typed, and operands come from untrusted models.
// Ops that infer their results are built through the builder with explicit types, with placeholders;
// NodeContext::finish then infers and diagnoses. Must not create operations itself.
#pragma once
#include "gpuc/IR/Ops.h"
#include "gpuc/Support/OpKinds.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"
#include <type_traits>

namespace gpuc::frontend::detail {

/// The attribute of a kind enumerator.
inline auto kindAttr(mlir::MLIRContext *c, UnaryKind k) { return UnaryKindAttr::get(c, k); }
inline auto kindAttr(mlir::MLIRContext *c, BinaryKind k) { return BinaryKindAttr::get(c, k); }
inline auto kindAttr(mlir::MLIRContext *c, ReduceKind k) { return ReduceKindAttr::get(c, k); }
inline auto kindAttr(mlir::MLIRContext *c, PadMode k) { return PadModeAttr::get(c, k); }
inline auto kindAttr(mlir::MLIRContext *c, ScatterReduction k) { return ScatterReductionAttr::get(c, k); }
inline auto kindAttr(mlir::MLIRContext *c, ResizeMode k) { return ResizeModeAttr::get(c, k); }
inline auto kindAttr(mlir::MLIRContext *c, CoordinateMode k) { return CoordinateModeAttr::get(c, k); }
inline auto kindAttr(mlir::MLIRContext *c, NearestMode k) { return NearestModeAttr::get(c, k); }
inline auto kindAttr(mlir::MLIRContext *c, RoundMode k) { return RoundModeAttr::get(c, k); }

template <typename T>
using EnumValue = std::enable_if_t<std::is_enum_v<decltype(std::declval<T>().getValue())>>;
template <typename T> constexpr bool isKindAttr = llvm::is_detected<EnumValue, T>::value;

// ODS makes one builder that takes plain values and one that takes attributes. Arguments of either form are
// converted to the form of the builder in use.
template <typename T> decltype(auto) asPlain(mlir::MLIRContext *, T &&value) {
  using U = std::decay_t<T>;
  if constexpr (std::is_floating_point_v<U>)
    return llvm::APFloat(double(value));
  else if constexpr (isKindAttr<U> || std::is_same_v<U, mlir::BoolAttr> || std::is_same_v<U, mlir::FloatAttr>)
    return value.getValue();
  else if constexpr (std::is_same_v<U, mlir::IntegerAttr>)
    return value.getInt();
  else if constexpr (std::is_same_v<U, mlir::UnitAttr>)
    return bool(value);
  else if constexpr (std::is_same_v<U, mlir::DenseI64ArrayAttr> || std::is_same_v<U, mlir::DenseF64ArrayAttr>)
    return value.asArrayRef();
  else
    return std::forward<T>(value);
}
template <typename T> decltype(auto) asAttribute(mlir::MLIRContext *context, T &&value) {
  using U = std::decay_t<T>;
  if constexpr (std::is_enum_v<U>)
    return kindAttr(context, value);
  else if constexpr (std::is_floating_point_v<U>)
    return mlir::FloatAttr::get(mlir::Float64Type::get(context), double(value));
  else if constexpr (std::is_same_v<U, llvm::APFloat>)
    return mlir::FloatAttr::get(mlir::Float64Type::get(context), value);
  else if constexpr (std::is_same_v<U, bool>)
    return mlir::BoolAttr::get(context, value);
  else if constexpr (std::is_integral_v<U>)
    return mlir::IntegerAttr::get(mlir::IntegerType::get(context, 64), int64_t(value));
  else if constexpr (std::is_convertible_v<T, llvm::ArrayRef<int64_t>>)
    return mlir::DenseI64ArrayAttr::get(context, value);
  else if constexpr (std::is_convertible_v<T, llvm::ArrayRef<double>>)
    return mlir::DenseF64ArrayAttr::get(context, value);
  else
    return std::forward<T>(value);
}
template <typename T> using Plain = decltype(asPlain(std::declval<mlir::MLIRContext *>(), std::declval<T>()));
template <typename T>
using Wrapped = decltype(asAttribute(std::declval<mlir::MLIRContext *>(), std::declval<T>()));

template <typename OpT, typename... Args>
using BuildResult = decltype(OpT::build(std::declval<mlir::OpBuilder &>(),
                                        std::declval<mlir::OperationState &>(), std::declval<Args>()...));
template <typename OpT, typename... Args>
constexpr bool canBuild = llvm::is_detected<BuildResult, OpT, Args...>::value;

template <typename OpT> constexpr bool infersTypes() {
  return OpT::template hasTrait<mlir::InferTypeOpInterface::Trait>();
}
/// How many placeholder result types the explicit builder's assertion wants.
template <typename OpT> constexpr unsigned placeholderCount() {
  if constexpr (OpT::template hasTrait<mlir::OpTrait::OneResult>())
    return 1;
  else if constexpr (OpT::template hasTrait<mlir::OpTrait::NResults<2>::Impl>())
    return 2;
  else if constexpr (OpT::template hasTrait<mlir::OpTrait::NResults<3>::Impl>())
    return 3;
  else if constexpr (OpT::template hasTrait<mlir::OpTrait::AtLeastNResults<1>::Impl>())
    return 1;
  else
    return 0;
}

/// True for a null Value and for a range that holds one.
template <typename T> bool isNullValue(const T &argument) {
  if constexpr (std::is_same_v<T, mlir::Value>)
    return !argument;
  else if constexpr (std::is_convertible_v<const T &, mlir::ValueRange> &&
                     !std::is_convertible_v<const T &, mlir::Value>)
    return llvm::any_of(mlir::ValueRange(argument), [](mlir::Value v) { return !v; });
  else
    return false;
}

template <typename First, typename...> struct FirstOf {
  using type = std::decay_t<First>;
};
template <typename... Args> constexpr bool startsWithTypes() {
  if constexpr (sizeof...(Args) == 0)
    return false;
  else
    return std::is_convertible_v<typename FirstOf<Args...>::type, mlir::TypeRange> &&
           !std::is_convertible_v<typename FirstOf<Args...>::type, mlir::ValueRange>;
}

/// Fills `state` as `OpT::build` would, with placeholder result types where they are to be inferred. False
/// when a required operand is null, which means that an error was emitted when it was made.
template <typename OpT, typename... Args>
bool fillState(mlir::OpBuilder &builder, mlir::OperationState &state, Args &&...args) {
  [[maybe_unused]] mlir::MLIRContext *context = builder.getContext();
  if constexpr (infersTypes<OpT>() && !startsWithTypes<Args...>()) {
    llvm::SmallVector<mlir::Type> placeholders(placeholderCount<OpT>(), builder.getNoneType());
    mlir::TypeRange types(placeholders);
    if constexpr (canBuild<OpT, mlir::TypeRange, Plain<Args>...>)
      OpT::build(builder, state, types, asPlain(context, std::forward<Args>(args))...);
    else if constexpr (canBuild<OpT, mlir::TypeRange, Wrapped<Args>...>)
      OpT::build(builder, state, types, asAttribute(context, std::forward<Args>(args))...);
    else if constexpr (std::is_same_v<OpT, UnaryOp> && sizeof...(Args) < 4)
      return fillState<OpT>(builder, state, std::forward<Args>(args)..., 0.0); // alpha and beta
    else
      static_assert(canBuild<OpT, mlir::TypeRange, Plain<Args>...>,
                    "no builder with explicit result types takes these arguments");
    state.types.clear();
    return true;
  } else {
    // Builders that take the result's shape read their operand's type, so it must be there.
    if constexpr (!startsWithTypes<Args...>())
      if ((isNullValue(static_cast<const std::decay_t<Args> &>(args)) || ...))
        return false;
    if constexpr (canBuild<OpT, Args...>)
      OpT::build(builder, state, std::forward<Args>(args)...);
    else if constexpr (canBuild<OpT, Plain<Args>...>)
      OpT::build(builder, state, asPlain(context, std::forward<Args>(args))...);
    else
      OpT::build(builder, state, asAttribute(context, std::forward<Args>(args))...);
    return true;
  }
}

} // namespace gpuc::frontend::detail

(* SPDX-License-Identifier: MIT *)
(* The theorems of `Arithmetic.v` for each float type, with the constants of Float.sol. *)
Require Import ZArith Reals Lia.
Require Import Evm Format RoundTo Decode Arithmetic.
Open Scope Z_scope.

Notation of_type lemma mw ew :=
  (lemma mw ew eq_refl eq_refl eq_refl ltac:(lia) ltac:(lia) 192 ltac:(lia) 108 ltac:(lia)).
Notation arithmetic mw ew := (of_type add_correct mw ew, of_type sub_correct mw ew, of_type mul_correct mw ew,
  of_type div_correct mw ew, of_type lt_correct mw ew, of_type le_correct mw ew, of_type eq_correct mw ew,
  of_type min_correct mw ew, of_type max_correct mw ew, of_type neg_correct mw ew, of_type abs_correct mw ew,
  of_type canonical_correct mw ew).

Definition arithmetic_float16 := arithmetic 10 5.
Definition arithmetic_bfloat16 := arithmetic 7 8.
Definition arithmetic_float32 := arithmetic 23 8.
Definition arithmetic_float64 := arithmetic 52 11.

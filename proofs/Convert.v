(* SPDX-License-Identifier: MIT *)
(* Float.convert between two float types, and Cast.cast of an integer to a float type. *)
Require Import ZArith Reals Lia Lra Bool.
From Flocq Require Import Core BinarySingleNaN Binary Bits.
Require Import Evm Rounding Format RoundTo Decode Arithmetic.
Open Scope Z_scope.

Section Convert.

(* The source type, and the target type. *)
Variables mw ew : Z.
Hypothesis Hmw : 0 < mw.
Hypothesis Hew : 0 < ew.
Hypothesis Hmax : mw + 1 < 2 ^ (ew - 1).
Hypothesis Hmw' : mw <= 53.
Hypothesis Hew' : ew <= 16.
Variables toMw toEw : Z.
Hypothesis HtoMw : 0 < toMw.
Hypothesis HtoEw : 0 < toEw.
Hypothesis HtoMax : toMw + 1 < 2 ^ (toEw - 1).
Hypothesis HtoMw' : toMw <= 53.
Hypothesis HtoEw' : toEw <= 16.

(* Float.convert, of two types that differ *)
Definition convertWord (a : Z) : Z :=
  if isNaNWord mw ew a then NAN toMw toEw else
  let '(negative, mantissa, exponent) := decode mw ew a in
  if isInfiniteWord mw ew a then infinityOf toMw toEw negative
  else roundTo toMw toEw negative mantissa exponent false.

Theorem convert_correct : forall a, isWord mw ew a ->
  if isNaN mw ew Hmw Hew Hmax a then convertWord a = NAN toMw toEw
  else if isFinite mw ew Hmw Hew Hmax a then
    rounds_to toMw toEw HtoMw HtoEw HtoMax (realOf mw ew Hmw Hew Hmax a) (convertWord a)
  else convertWord a = signed toMw toEw (isNegative mw ew Hmw Hew Hmax a) (INFINITY toMw toEw).
Proof.
  intros a Ha. unfold convertWord.
  destruct (cases mw ew Hmw Hew Hmax Hmw' Hew' a Ha)
    as [(A & _ & K & _)|[(A & B & K & I & S & _)|(A & B & K & I & S & L)]]; rewrite A, K; [reflexivity| |]; rewrite B, I.
  - rewrite S, <- infinityOf_is by assumption. unfold decode. destruct (_ =? 0); reflexivity.
  - destruct (decode_finite mw ew Hmw Hew Hmax Hmw' Hew' a Ha L) as (m & e & -> & Bm & Be & _ & _ & ->).
    destruct (bounds mw ew Hmw Hew Hmax Hmw' Hew') as (P & Hh & Hl & _).
    assert (2 ^ (mw + 1) <= 2 ^ 54) by (apply Z.pow_le_mono_r; lia).
    apply (roundTo_correct toMw toEw HtoMw HtoEw HtoMax ltac:(lia) ltac:(lia) (isNegativeWord mw ew a) m e false);
      try (unfold W; lia); try reflexivity; discriminate.
Qed.

(* Cast.cast of the word of an integer, in two's complement *)
Definition castInteger (value : Z) : Z :=
  let negative := int value <? 0 in roundTo toMw toEw negative (if negative then sub 0 value else value) 0 false.

Theorem castInteger_correct : forall z, - 2 ^ 64 <= z <= 2 ^ 64 ->
  rounds_to toMw toEw HtoMw HtoEw HtoMax (IZR z) (castInteger (uint z)).
Proof.
  intros z Hz. unfold castInteger.
  assert (E : int (uint z) = z).
  { unfold int, uint. rewrite Z.add_mod_idemp_l by discriminate. apply int_small. lia. }
  rewrite E. destruct (Z.ltb_spec z 0) as [N|N].
  - assert (S : sub 0 (uint z) = - z).
    { unfold sub, uint. rewrite Zminus_mod_idemp_r. apply Z.mod_small. unfold W. lia. }
    rewrite S. replace (IZR z) with (- (IZR (- z) * bpow radix2 0))%R by (rewrite opp_IZR; simpl; ring).
    apply (roundTo_correct toMw toEw HtoMw HtoEw HtoMax ltac:(lia) ltac:(lia) true (- z) 0 false (IZR (- z) * bpow radix2 0));
      try (unfold W; lia); try reflexivity; discriminate.
  - rewrite uint_small by (unfold W; lia). replace (IZR z) with (IZR z * bpow radix2 0)%R by (simpl; ring).
    apply (roundTo_correct toMw toEw HtoMw HtoEw HtoMax ltac:(lia) ltac:(lia) false z 0 false (IZR z * bpow radix2 0));
      try (unfold W; lia); try reflexivity; discriminate.
Qed.

End Convert.

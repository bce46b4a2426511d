(* SPDX-License-Identifier: MIT *)
(* Words of a binary float type, by Flocq: a fraction of `mw` bits, an exponent field of `ew` bits, a sign. *)
Require Import ZArith Reals Lia Lra Bool.
From Flocq Require Import Core BinarySingleNaN Binary Bits.
Require Import Evm Rounding.
Open Scope Z_scope.

Section Format.

Variables mw ew : Z.
Hypothesis Hmw : 0 < mw.
Hypothesis Hew : 0 < ew.
Hypothesis Hmax : mw + 1 < 2 ^ (ew - 1).

Notation prec := (mw + 1).
Notation emax := (2 ^ (ew - 1)).
Notation float := (binary_float prec emax).

(* Format.highestExponent, lowestExponent, sign, infinity and nan *)
Definition highest := emax - 1.
Definition lowest := 1 - highest - mw.
Definition SIGN := 2 ^ (mw + ew).
Definition INFINITY := SIGN - 2 ^ mw.
Definition NAN := INFINITY + 2 ^ (mw - 1).
Definition WIDTH := 2 ^ (mw + ew + 1).

(* Flocq's number for a word, and its rounding: to nearest, ties to even. *)
Definition floatOf (w : Z) : float := binary_float_of_bits mw ew Hmw Hew Hmax w.
Definition isNaN (w : Z) : bool := is_nan prec emax (floatOf w).
Definition isFinite (w : Z) : bool := is_finite prec emax (floatOf w).
Definition realOf (w : Z) : R := B2R prec emax (floatOf w).
Definition isNegative (w : Z) : bool := Bsign prec emax (floatOf w).
Definition rounded (x : R) : R := round radix2 (SpecFloat.fexp prec emax) ZnearestE x.

(* The word `w` is the real `x`, rounded once: the finite word whose value is the nearest one, where the zero is +0; or
   the infinity of the sign of `x`, if and only if the rounded number reaches 2^emax. `rounds_to_unique`: no other word
   is. *)
Definition rounds_to (x : R) (w : Z) : Prop :=
  0 <= w < WIDTH /\
  ((Rabs (rounded x) < bpow radix2 emax)%R -> isFinite w = true /\ realOf w = rounded x /\ w <> SIGN) /\
  ((bpow radix2 emax <= Rabs (rounded x))%R -> w = if Rlt_bool x 0 then SIGN + INFINITY else INFINITY).

Definition signed (s : bool) (w : Z) := if s then w + SIGN else w.

Lemma sizes : 0 < 2 ^ mw /\ 2 <= 2 ^ ew /\ SIGN = 2 ^ ew * 2 ^ mw /\ WIDTH = 2 * SIGN /\ 2 ^ ew = 2 * emax /\
  INFINITY = (2 ^ ew - 1) * 2 ^ mw /\ 2 ^ mw = 2 * 2 ^ (mw - 1) /\ 0 < 2 ^ (mw - 1).
Proof.
  assert (0 < 2 ^ mw) by (apply pow_pos; lia).
  assert (2 ^ ew = 2 * emax) by (rewrite <- Z.pow_succ_r by lia; f_equal; lia).
  assert (0 < emax) by (apply pow_pos; lia).
  assert (SIGN = 2 ^ ew * 2 ^ mw) by (unfold SIGN; rewrite <- Z.pow_add_r by lia; f_equal; lia).
  assert (2 ^ mw = 2 * 2 ^ (mw - 1)) by (rewrite <- Z.pow_succ_r by lia; f_equal; lia).
  repeat split; try lia.
  - unfold WIDTH, SIGN. rewrite Z.pow_add_r by lia. lia.
  - unfold INFINITY. lia.
Qed.

Lemma INFINITY_positive : 0 < INFINITY < SIGN.
Proof. destruct sizes as (P & Q & S & _ & _ & I & _). rewrite S, I. nia. Qed.

Lemma split_signed : forall s w, 0 <= w < SIGN -> split_bits mw ew (signed s w) = (s, w mod 2 ^ mw, w / 2 ^ mw).
Proof.
  intros s w Hw. destruct sizes as (P & Q & S & _). unfold split_bits, signed. rewrite S in *.
  assert (0 <= w / 2 ^ mw < 2 ^ ew)
    by (split; [apply Z.div_pos; lia|apply Z.div_lt_upper_bound; lia]).
  destruct s.
  - rewrite Z.mod_add by lia. rewrite Z.div_add by lia.
    replace (w / 2 ^ mw + 2 ^ ew) with (w / 2 ^ mw + 1 * 2 ^ ew) by lia. rewrite Z.mod_add by lia.
    rewrite (Z.mod_small (w / 2 ^ mw)) by assumption.
    f_equal. f_equal. apply Z.leb_le. lia.
  - rewrite (Z.mod_small (w / 2 ^ mw)) by assumption. f_equal. f_equal. apply Z.leb_gt. lia.
Qed.

(* The magnitude of a finite word. *)
Definition magnitude (w : Z) : R :=
  if w / 2 ^ mw =? 0 then (IZR (w mod 2 ^ mw) * bpow radix2 lowest)%R
  else (IZR (w mod 2 ^ mw + 2 ^ mw) * bpow radix2 (w / 2 ^ mw + lowest - 1))%R.

Lemma emin_lowest : SpecFloat.emin prec emax = lowest.
Proof. unfold SpecFloat.emin, lowest, highest. lia. Qed.

Lemma IZR_cond : forall s m, IZR (cond_Zopp s m) = if s then (- IZR m)%R else IZR m.
Proof. intros [|] m; simpl; [apply opp_IZR|reflexivity]. Qed.

Lemma finite_word : forall s w, 0 <= w < INFINITY ->
  isFinite (signed s w) = true /\ isNaN (signed s w) = false /\
  realOf (signed s w) = (if s then - magnitude w else magnitude w)%R /\ isNegative (signed s w) = s.
Proof.
  intros s w Hw. destruct sizes as (P & Q & S & _ & _ & I & _).
  unfold isFinite, isNaN, realOf, isNegative, floatOf, binary_float_of_bits.
  rewrite B2R_FF2B, is_finite_FF2B, is_nan_FF2B, Bsign_FF2B. unfold binary_float_of_bits_aux.
  rewrite split_signed by (rewrite S, I in *; nia). rewrite emin_lowest. unfold magnitude, Zeq_bool.
  assert (Hf : 0 <= w / 2 ^ mw < 2 ^ ew - 1)
    by (rewrite I in Hw; split; [apply Z.div_pos; lia|apply Z.div_lt_upper_bound; lia]).
  pose proof (Z.mod_pos_bound w (2 ^ mw) P) as Hm.
  revert Hf Hm. generalize (w / 2 ^ mw) as f. generalize (w mod 2 ^ mw) as m. intros m f Hf Hm.
  destruct (Z.eqb_spec f 0) as [E|E].
  - subst f. cbn [Z.compare].
    destruct m as [|m|m]; cbn [FF2R is_finite_FF is_nan_FF sign_FF]; [|unfold F2R; cbn [Fnum Fexp]; rewrite IZR_cond|lia].
    + repeat split. destruct s; rewrite Rmult_0_l; lra.
    + repeat split. destruct s; lra.
  - destruct (Z.compare_spec f 0); [lia|lia|]. destruct (Z.compare_spec f (2 ^ ew - 1)); [lia| |lia].
    destruct (m + 2 ^ mw) as [|n|n] eqn:En; [lia| |lia].
    cbn [FF2R is_finite_FF is_nan_FF sign_FF]. unfold F2R; cbn [Fnum Fexp]. rewrite IZR_cond.
    repeat split. destruct s; lra.
Qed.

Lemma infinite_word : forall s, B2FF prec emax (floatOf (signed s INFINITY)) = F754_infinity s.
Proof.
  intros s. destruct sizes as (P & Q & S & _ & _ & I & _).
  unfold floatOf, binary_float_of_bits. rewrite B2FF_FF2B. unfold binary_float_of_bits_aux.
  rewrite split_signed by (rewrite S, I in *; nia). rewrite I, Z.mod_mul, Z.div_mul by lia. unfold Zeq_bool.
  destruct (Z.compare_spec (2 ^ ew - 1) 0); [lia|lia|]. rewrite Z.compare_refl. reflexivity.
Qed.

Lemma nan_word : forall s w, INFINITY < w < SIGN -> isNaN (signed s w) = true /\ isFinite (signed s w) = false.
Proof.
  intros s w Hw. destruct sizes as (P & Q & S & _ & _ & I & _).
  unfold isNaN, isFinite, floatOf, binary_float_of_bits. rewrite is_nan_FF2B, is_finite_FF2B.
  unfold binary_float_of_bits_aux. rewrite split_signed by (rewrite I in Hw; nia).
  assert (Ef : w / 2 ^ mw = 2 ^ ew - 1) by (symmetry; apply Z.div_unique with (w - (2 ^ ew - 1) * 2 ^ mw); lia).
  assert (Em : w mod 2 ^ mw = w - INFINITY) by (rewrite Z.mod_eq, Ef by lia; rewrite I; lia).
  rewrite Ef, Em. unfold Zeq_bool. destruct (Z.compare_spec (2 ^ ew - 1) 0); [lia|lia|]. rewrite Z.compare_refl.
  destruct (w - INFINITY) eqn:E; [lia|split; reflexivity|lia].
Qed.

(* A word below SIGN is one of three; any word is one of these with or without its sign. *)
Lemma word_signed : forall w, 0 <= w < WIDTH -> exists s m, w = signed s m /\ 0 <= m < SIGN.
Proof.
  intros w Hw. destruct sizes as (P & Q & S & D & _). destruct (Z.lt_ge_cases w SIGN).
  - exists false, w. split; [reflexivity|lia].
  - exists true, (w - SIGN). unfold signed. lia.
Qed.

Lemma magnitude_normal : forall k n, 0 <= k -> 2 ^ mw <= n <= 2 * 2 ^ mw ->
  magnitude (n + k * 2 ^ mw) = (IZR n * bpow radix2 (k + lowest))%R.
Proof.
  intros k n Hk Hn. destruct sizes as (P & _). unfold magnitude. rewrite Z.div_add, Z.mod_add by lia.
  destruct (Z.eq_dec n (2 * 2 ^ mw)) as [->|N].
  - rewrite Z.div_mul, Z.mod_mul by lia. replace (2 + k =? 0) with false by (symmetry; apply Z.eqb_neq; lia).
    rewrite Z.add_0_l, mult_IZR. replace (2 + k + lowest - 1) with (k + lowest + 1) by lia. rewrite bpow_plus.
    change (bpow radix2 1) with 2%R. ring.
  - assert (D : n / 2 ^ mw = 1) by (symmetry; apply Z.div_unique with (n - 2 ^ mw); lia).
    assert (M : n mod 2 ^ mw = n - 2 ^ mw) by (rewrite Z.mod_eq, D by lia; lia).
    rewrite D, M. replace (1 + k =? 0) with false by (symmetry; apply Z.eqb_neq; lia).
    replace (n - 2 ^ mw + 2 ^ mw) with n by lia. replace (1 + k + lowest - 1) with (k + lowest) by lia. reflexivity.
Qed.

Lemma magnitude_subnormal : forall n, 0 <= n <= 2 ^ mw -> magnitude n = (IZR n * bpow radix2 lowest)%R.
Proof.
  intros n Hn. destruct sizes as (P & _). destruct (Z.eq_dec n (2 ^ mw)) as [->|N].
  - rewrite <- (Z.add_0_r (2 ^ mw)) at 1. rewrite <- (Z.mul_0_l (2 ^ mw)). rewrite magnitude_normal by lia. reflexivity.
  - unfold magnitude. rewrite Z.div_small, Z.mod_small by lia. reflexivity.
Qed.

Theorem rounds_to_unique : forall x w w', rounds_to x w -> rounds_to x w' -> w = w'.
Proof.
  intros x w w' (R1 & F1 & I1) (R2 & F2 & I2).
  destruct (Rlt_or_le (Rabs (rounded x)) (bpow radix2 emax)) as [H|H].
  2:{ rewrite I1, I2 by assumption. reflexivity. }
  destruct (F1 H) as (A1 & B1 & C1), (F2 H) as (A2 & B2 & C2). clear F1 F2 I1 I2.
  unfold WIDTH in *.
  assert (E1 := bits_of_binary_float_of_bits mw ew Hmw Hew Hmax w R1).
  assert (E2 := bits_of_binary_float_of_bits mw ew Hmw Hew Hmax w' R2).
  unfold realOf, isFinite, floatOf in *.
  set (f1 := binary_float_of_bits mw ew Hmw Hew Hmax w) in *.
  set (f2 := binary_float_of_bits mw ew Hmw Hew Hmax w') in *.
  assert (Z1 : forall f v, is_finite prec emax f = true -> bits_of_binary_float mw ew f = v -> v <> SIGN ->
    is_finite_strict prec emax f = false -> v = 0).
  { intros f v Hf Hv Hn Hs. destruct f as [s|s|s p e|s m e b]; try discriminate.
    subst v. simpl in *. unfold join_bits in *. destruct s; [|rewrite Z.shiftl_0_l in *; lia].
    exfalso. apply Hn. rewrite Z.shiftl_mul_pow2 by lia. unfold SIGN. rewrite Z.pow_add_r by lia. lia. }
  assert (Zr : forall f, is_finite prec emax f = true -> is_finite_strict prec emax f = false -> B2R prec emax f = 0%R).
  { intros f Hf Hs. destruct f; try discriminate. reflexivity. }
  assert (Zs : forall f, is_finite_strict prec emax f = true -> B2R prec emax f <> 0%R).
  { intros f Hs. destruct f as [s|s|s p e|s m e b]; try discriminate. simpl. apply F2R_neq_0. destruct s; discriminate. }
  destruct (is_finite_strict prec emax f1) eqn:S1, (is_finite_strict prec emax f2) eqn:S2.
  - assert (f1 = f2) by (apply B2R_inj; congruence). congruence.
  - exfalso. apply (Zs f1 S1). rewrite B1, <- B2. apply Zr; assumption.
  - exfalso. apply (Zs f2 S2). rewrite B2, <- B1. apply Zr; assumption.
  - rewrite (Z1 f1 w A1 E1 C1 S1), (Z1 f2 w' A2 E2 C2 S2). reflexivity.
Qed.

(* The word of a number of Flocq's, as the chain keeps it: one zero, one NaN. *)
Definition wordOf (f : float) : Z :=
  match f with
  | B754_nan _ _ _ _ _ => NAN
  | B754_zero _ _ _ => 0
  | _ => bits_of_binary_float mw ew f
  end.

Lemma wordOf_finite : forall f, is_finite prec emax f = true -> isFinite (wordOf f) = true /\
  realOf (wordOf f) = B2R prec emax f /\ wordOf f <> SIGN /\ 0 <= wordOf f < WIDTH.
Proof.
  intros f Hf. destruct sizes as (P & Q & S & D & _ & I & _). pose proof INFINITY_positive as IP.
  destruct f as [s|s|s p e|s m e b]; try discriminate.
  - destruct (finite_word false 0 ltac:(lia)) as (A & _ & B & _). unfold signed in A, B.
    cbn [wordOf B2R]. rewrite A, B.
    rewrite magnitude_subnormal by lia. rewrite Rmult_0_l. repeat split; try lia.
  - set (f := B754_finite prec emax s m e b) in *. change (wordOf f) with (bits_of_binary_float mw ew f).
    assert (E : floatOf (bits_of_binary_float mw ew f) = f) by apply binary_float_of_bits_of_binary_float.
    unfold isFinite, realOf. rewrite E. repeat split; try apply (bits_of_binary_float_range mw ew Hmw Hew f).
    intros Hs. rewrite Hs in E.
    destruct (finite_word true 0 ltac:(lia)) as (_ & _ & B & _). unfold signed, realOf in B. rewrite Z.add_0_l, E in B.
    rewrite magnitude_subnormal, Rmult_0_l, Ropp_0 in B by lia.
    revert B. simpl. apply F2R_neq_0. destruct s; discriminate.
Qed.

Lemma wordOf_infinite : forall f s, B2FF prec emax f = F754_infinity s -> wordOf f = signed s INFINITY.
Proof.
  intros f s H. destruct f; try discriminate. inversion H; subst. simpl. unfold join_bits, signed, INFINITY.
  destruct sizes as (P & Q & S & D & _ & I & _).
  destruct s; rewrite Z.shiftl_mul_pow2 by lia; rewrite Z.add_0_r; lia.
Qed.

Lemma wordOf_rounds : forall x f,
  (if Rlt_bool (Rabs (rounded x)) (bpow radix2 emax) then B2R prec emax f = rounded x /\ is_finite prec emax f = true
   else B2FF prec emax f = F754_infinity (Rlt_bool x 0)) -> rounds_to x (wordOf f).
Proof.
  intros x f H. destruct sizes as (P & Q & S & D & _ & I & _). unfold rounds_to. pose proof INFINITY_positive as IP.
  destruct (Rlt_bool_spec (Rabs (rounded x)) (bpow radix2 emax)) as [L|L].
  - destruct H as [HR HF]. destruct (wordOf_finite f HF) as (A & B & C & E). rewrite A, B, HR.
    repeat split; try lia; try reflexivity; try assumption. intros. lra.
  - rewrite (wordOf_infinite f _ H). unfold signed.
    split; [destruct (Rlt_bool x 0); lia|]. split; [intros; lra|].
    intros _. destruct (Rlt_bool x 0); [apply Z.add_comm|reflexivity].
Qed.

(* Flocq's own rounding of `m * 2^e`, which can be computed. *)
Definition flocqRound (m e : Z) : Z :=
  wordOf (binary_normalize prec emax (Zle_lt_succ 0 mw (Z.lt_le_incl 0 mw Hmw)) Hmax mode_NE m e false).

Theorem flocqRound_rounds : forall m e, rounds_to (IZR m * bpow radix2 e) (flocqRound m e).
Proof.
  intros m e. apply wordOf_rounds.
  pose proof (binary_normalize_correct prec emax (Zle_lt_succ 0 mw (Z.lt_le_incl 0 mw Hmw)) Hmax mode_NE m e false) as H.
  unfold F2R in H; cbn [Fnum Fexp] in H. cbv zeta in H. unfold rounded. change ZnearestE with (round_mode mode_NE).
  destruct (Rlt_bool _ (bpow radix2 emax)).
  - destruct H as (A & B & _). split; assumption.
  - rewrite H. reflexivity.
Qed.

End Format.

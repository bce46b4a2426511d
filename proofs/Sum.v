(* SPDX-License-Identifier: MIT *)
(* ExactSum.sol: a sum of products of float32 words, from `addProducts` to `round`. *)
Require Import ZArith Reals Lia Lra Bool List.
From Flocq Require Import Core BinarySingleNaN Binary Bits.
Require Import Evm Rounding Format RoundTo.
Open Scope Z_scope.

(* float32: 23 bits of fraction, 8 of the exponent *)
Notation P23 := (eq_refl : 0 < 23).
Notation P8 := (eq_refl : 0 < 8).
Notation PM := (eq_refl : 23 + 1 < 2 ^ (8 - 1)).
Notation roundTo32 := (roundTo 23 8).
Notation rounds_to32 := (rounds_to 23 8 P23 P8 PM).
Notation real32 := (realOf 23 8 P23 P8 PM).
Notation nan32 := (isNaN 23 8 P23 P8 PM).
Notation finite32 := (isFinite 23 8 P23 P8 PM).
Notation negative32 := (isNegative 23 8 P23 P8 PM).
Definition NAN32 := 0x7fc00000.
Definition INFINITY32 := 0x7f800000.
Definition NEG_INFINITY32 := 0xff800000.

(* ExactSum._roundWords, of float32 *)
Definition roundWords (negative : bool) (word2 word1 word0 lowest : Z) : Z :=
  let exponent := int (lowest + 512) in
  let '(word2, word1, word0, exponent) :=
    if word2 =? 0 then (word1, word0, 0, int (exponent - 256)) else (word2, word1, word0, exponent) in
  let '(word2, word1, exponent) :=
    if word2 =? 0 then (word1, 0, int (exponent - 256)) else (word2, word1, exponent) in
  let shift := clz word2 in
  let mantissa := Z.lor (shl shift word2) (shr (sub 256 shift) word1) in
  let sticky := negb (Z.lor (shl shift word1) word0 =? 0) in
  roundTo32 negative mantissa (int (exponent - shift)) sticky.

Lemma words_normalised : forall w2 w1 w0, 0 <= w1 < W -> 0 <= w0 < W -> 0 < w2 < W ->
  let s := clz w2 in
  let M := Z.lor (shl s w2) (shr (sub 256 s) w1) in
  2 ^ 255 <= M < W /\ exists rest, w2 * 2 ^ 512 + w1 * 2 ^ 256 + w0 = M * 2 ^ (512 - s) + rest /\
    0 <= rest < 2 ^ (512 - s) /\ (Z.lor (shl s w1) w0 = 0 <-> rest = 0).
Proof.
  intros w2 w1 w0 H1 H0 H2 s M. destruct (clz_spec w2 H2) as [Hs Hl]. fold s in Hs, Hl.
  assert (Hp : W = 2 ^ s * 2 ^ (256 - s)) by (apply pow_split; lia).
  assert (Hps : 0 < 2 ^ s) by (apply pow_pos; lia).
  assert (Hpr : 0 < 2 ^ (256 - s)) by (apply pow_pos; lia).
  set (hi := w1 / 2 ^ (256 - s)). set (lo := w1 mod 2 ^ (256 - s)).
  assert (Hw1 : w1 = 2 ^ (256 - s) * hi + lo) by (apply Z.div_mod; lia).
  assert (Hlo : 0 <= lo < 2 ^ (256 - s)) by (apply Z.mod_pos_bound; lia).
  assert (Hhi : 0 <= hi < 2 ^ s) by (unfold hi; split; [apply Z.div_pos; lia|apply Z.div_lt_upper_bound; lia]).
  assert (E2 : shl s w2 = w2 * 2 ^ s) by (apply shl_small; unfold W in *; lia).
  assert (E1 : shr (sub 256 s) w1 = hi) by (rewrite sub_small by (unfold W; lia); apply shr_div; lia).
  assert (EM : M = w2 * 2 ^ s + hi) by (unfold M; rewrite E2, E1; apply lor_disjoint; lia).
  assert (Es : shl s w1 = lo * 2 ^ s).
  { unfold shl. replace (s <? 256) with true by (symmetry; apply Z.ltb_lt; lia). rewrite Hp, (Z.mul_comm w1).
    rewrite Z.mul_mod_distr_l by lia. apply Z.mul_comm. }
  assert (H512 : 2 ^ (512 - s) = 2 ^ (256 - s) * W) by (unfold W; rewrite <- Z.pow_add_r by lia; f_equal; lia).
  assert (H512' : 2 ^ 512 = W * W) by reflexivity.
  change (2 ^ 256) with W. rewrite Es, H512, H512'.
  assert (HWp : 0 < W) by reflexivity.
  clearbody hi lo M s. split.
  - rewrite EM. split; [lia|].
    assert (w2 + 1 <= 2 ^ (256 - s)).
    { assert (w2 * 2 ^ s < 2 ^ (256 - s) * 2 ^ s) by lia. apply Z.mul_lt_mono_pos_r in H; lia. }
    assert ((w2 + 1) * 2 ^ s <= 2 ^ (256 - s) * 2 ^ s) by (apply Z.mul_le_mono_nonneg_r; lia). lia.
  - exists (lo * W + w0). split; [|split].
    + rewrite Hw1, EM. rewrite Hp at 1. ring.
    + assert ((lo + 1) * W <= 2 ^ (256 - s) * W) by (apply Z.mul_le_mono_nonneg_r; lia).
      assert (0 <= lo * W) by (apply Z.mul_nonneg_nonneg; lia). lia.
    + rewrite Z.lor_eq_0_iff. assert (0 <= lo * W) by (apply Z.mul_nonneg_nonneg; lia).
      assert (Hz : forall k, 0 < k -> (lo * k = 0 <-> lo = 0)) by (intros; rewrite Z.mul_eq_0; lia).
      rewrite Hz by lia. split; [intros [-> ->]; reflexivity|]. intros Hr.
      assert (Hl0 : lo * W = 0) by lia. rewrite Hz in Hl0 by lia. lia.
Qed.

Open Scope R_scope.
Theorem roundWords_correct : forall (negative : bool) (w2 w1 w0 lowest : Z),
  (0 <= w2 < W)%Z -> (0 <= w1 < W)%Z -> (0 <= w0 < W)%Z -> (-2000 <= lowest <= 2000)%Z ->
  let x := IZR (w2 * 2 ^ 512 + w1 * 2 ^ 256 + w0) * bpow radix2 lowest in
  rounds_to32 (if negative then - x else x) (roundWords negative w2 w1 w0 lowest).
Proof.
  intros negative.
  (* the words with the leading one nonzero *)
  assert (Main : forall w2 w1 w0 e, (0 < w2 < W)%Z -> (0 <= w1 < W)%Z -> (0 <= w0 < W)%Z -> (-4000 <= e <= 4000)%Z ->
    let x := IZR (w2 * 2 ^ 512 + w1 * 2 ^ 256 + w0) * bpow radix2 (e - 512) in
    rounds_to32 (if negative then - x else x)
      (roundTo32 negative (Z.lor (shl (clz w2) w2) (shr (sub 256 (clz w2)) w1)) (int (e - clz w2))
        (negb (Z.lor (shl (clz w2) w1) w0 =? 0)%Z))).
  { intros w2 w1 w0 e H2 H1 H0 He x. destruct (clz_spec w2 H2) as [Hs _].
    destruct (words_normalised w2 w1 w0 H1 H0 H2) as [HM [rest [Hm [Hr Hz]]]].
    set (s := clz w2) in *. set (M := Z.lor (shl s w2) (shr (sub 256 s) w1)) in *. clearbody s M.
    rewrite int_small by lia.
    assert (HMW : (0 <= M < W)%Z) by (unfold W in *; lia).
    assert (Hex : x = IZR M * bpow radix2 (e - s) + IZR rest * bpow radix2 (e - 512)).
    { unfold x. rewrite Hm, plus_IZR, mult_IZR, Rmult_plus_distr_r. f_equal. rewrite Rmult_assoc. f_equal.
      replace (IZR (2 ^ (512 - s))) with (bpow radix2 (512 - s)) by (rewrite <- (IZR_Zpower radix2) by lia; reflexivity).
      rewrite <- bpow_plus. f_equal. lia. }
    pose proof (bpow_gt_0 radix2 (e - 512)) as Hb.
    apply roundTo_correct; try assumption; try lia.
    - destruct (Z.eqb_spec (Z.lor (shl s w1) w0) 0) as [Z0|Z0]; cbn [negb].
      + apply Hz in Z0. rewrite Hex, Z0. ring.
      + assert (Hr0 : (0 < rest)%Z) by (assert (rest <> 0)%Z by tauto; lia).
        rewrite Hex. rewrite plus_IZR, Rmult_plus_distr_r, Rmult_1_l.
        assert (0 < IZR rest * bpow radix2 (e - 512)) by (apply Rmult_lt_0_compat; [apply IZR_lt|]; assumption).
        assert (IZR rest * bpow radix2 (e - 512) < bpow radix2 (e - s)).
        { replace (e - s)%Z with (512 - s + (e - 512))%Z by lia. rewrite bpow_plus. apply Rmult_lt_compat_r; [assumption|].
          replace (bpow radix2 (512 - s)) with (IZR (2 ^ (512 - s))) by (rewrite <- (IZR_Zpower radix2) by lia; reflexivity).
          apply IZR_lt. lia. }
        lra. }
  intros w2 w1 w0 lowest H2 H1 H0 Hl x. unfold roundWords. rewrite (int_small (lowest + 512)) by lia.
  assert (W0 : (0 <= 0 < W)%Z) by (split; reflexivity || lia).
  destruct (Z.eqb_spec w2 0) as [Z2|Z2].
  - rewrite (int_small (lowest + 512 - 256)) by lia. destruct (Z.eqb_spec w1 0) as [Z1|Z1].
    + rewrite (int_small (lowest + 512 - 256 - 256)) by lia. destruct (Z.eq_dec w0 0) as [Z0|Z0].
      * subst. unfold x. replace (roundTo32 _ _ _ _) with 0%Z by reflexivity.
        replace (IZR (0 * 2 ^ 512 + 0 * 2 ^ 256 + 0)) with 0 by reflexivity. rewrite Rmult_0_l.
        exact (rounds_zero 23 8 P23 P8 PM negative).
      * replace x with (IZR (w0 * 2 ^ 512 + 0 * 2 ^ 256 + 0) * bpow radix2 (lowest + 512 - 256 - 256 - 512)).
        { apply Main; try assumption; lia. }
        unfold x. subst w2 w1. rewrite !Z.mul_0_l, !Z.add_0_r, !Z.add_0_l, mult_IZR, Rmult_assoc. f_equal.
        replace (IZR (2 ^ 512)) with (bpow radix2 512) by (rewrite <- (IZR_Zpower radix2) by lia; reflexivity).
        rewrite <- bpow_plus. f_equal. lia.
    + replace x with (IZR (w1 * 2 ^ 512 + w0 * 2 ^ 256 + 0) * bpow radix2 (lowest + 512 - 256 - 512)).
      { destruct (Z.eqb_spec w1 0); [contradiction|]. apply Main; try assumption; lia. }
      unfold x. subst w2. replace (w1 * 2 ^ 512 + w0 * 2 ^ 256 + 0)%Z with ((w1 * 2 ^ 256 + w0) * 2 ^ 256)%Z by lia.
      replace (0 * 2 ^ 512 + w1 * 2 ^ 256 + w0)%Z with (w1 * 2 ^ 256 + w0)%Z by lia. rewrite mult_IZR, Rmult_assoc. f_equal.
      replace (IZR (2 ^ 256)) with (bpow radix2 256) by (rewrite <- (IZR_Zpower radix2) by lia; reflexivity).
      rewrite <- bpow_plus. f_equal. lia.
  - destruct (Z.eqb_spec w2 0); [contradiction|].
    replace x with (IZR (w2 * 2 ^ 512 + w1 * 2 ^ 256 + w0) * bpow radix2 (lowest + 512 - 512)).
    { apply Main; try assumption; lia. }
    unfold x. f_equal. f_equal. lia.
Qed.

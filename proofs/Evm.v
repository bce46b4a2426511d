(* SPDX-License-Identifier: MIT *)
(* The EVM's operations on words, integers from 0 up to W - 1, and Solidity's wrapping int256. *)
Require Import ZArith Lia Bool.
Open Scope Z_scope.

Definition W := 2 ^ 256.
Definition b2z (b : bool) := if b then 1 else 0.
Definition add (a b : Z) := (a + b) mod W.
Definition sub (a b : Z) := (a - b) mod W.
Definition mul (a b : Z) := (a * b) mod W.
Definition shl (s a : Z) := if s <? 256 then (a * 2 ^ s) mod W else 0.
Definition shr (s a : Z) := if s <? 256 then a / 2 ^ s else 0.
Definition gt (a b : Z) := b2z (b <? a).
Definition eq (a b : Z) := b2z (a =? b).
Definition iszero (a : Z) := b2z (a =? 0).
(* The opcode CLZ: the zero bits above the highest bit that is set; 256 for 0. *)
Definition clz (a : Z) := if a =? 0 then 256 else 255 - Z.log2 a.

(* int256, in Solidity's `unchecked` arithmetic: an integer from -2^255 up to 2^255 - 1. *)
Definition int (z : Z) := (z + 2 ^ 255) mod W - 2 ^ 255.
(* uint256 of an int256, modulo 2^256. *)
Definition uint (z : Z) := z mod W.
(* `>>` of an int256 rounds down. *)
Definition sar (s z : Z) := z / 2 ^ s.

Lemma int_small : forall z, -2 ^ 255 <= z < 2 ^ 255 -> int z = z.
Proof. intros. unfold int, W. rewrite Z.mod_small; lia. Qed.

Lemma uint_small : forall z, 0 <= z < W -> uint z = z.
Proof. intros. apply Z.mod_small. assumption. Qed.

Lemma add_small : forall a b, 0 <= a + b < W -> add a b = a + b.
Proof. intros. apply Z.mod_small. assumption. Qed.

Lemma mul_small : forall a b, 0 <= a * b < W -> mul a b = a * b.
Proof. intros. apply Z.mod_small. assumption. Qed.

Lemma sub_small : forall a b, 0 <= a - b < W -> sub a b = a - b.
Proof. intros. apply Z.mod_small. assumption. Qed.

Lemma shl_small : forall s a, 0 <= s < 256 -> 0 <= a * 2 ^ s < W -> shl s a = a * 2 ^ s.
Proof.
  intros. unfold shl. replace (s <? 256) with true by (symmetry; apply Z.ltb_lt; lia). apply Z.mod_small. assumption.
Qed.

Lemma shr_div : forall s a, 0 <= s <= 256 -> 0 <= a < W -> shr s a = a / 2 ^ s.
Proof.
  intros. unfold shr, W in *. destruct (Z.ltb_spec s 256); [reflexivity|].
  replace s with 256 by lia. symmetry. apply Z.div_small. lia.
Qed.

Lemma pow_pos : forall n, 0 <= n -> 0 < 2 ^ n.
Proof. intros. apply Z.pow_pos_nonneg; lia. Qed.

Lemma pow_split : forall a b, 0 <= a <= b -> 2 ^ b = 2 ^ a * 2 ^ (b - a).
Proof. intros. rewrite <- Z.pow_add_r by lia. f_equal. lia. Qed.

(* Bits. *)
Lemma land_ones_low : forall x k, 0 <= k -> Z.land x (2 ^ k - 1) = x mod 2 ^ k.
Proof. intros. replace (2 ^ k - 1) with (Z.ones k) by (rewrite Z.ones_equiv; lia). apply Z.land_ones. assumption. Qed.

Lemma land_field : forall x k s, 0 <= k -> 0 <= s ->
  Z.land x ((2 ^ k - 1) * 2 ^ s) = ((x / 2 ^ s) mod 2 ^ k) * 2 ^ s.
Proof.
  intros x k s Hk Hs. rewrite <- land_ones_low by assumption. rewrite <- !Z.shiftl_mul_pow2, <- Z.shiftr_div_pow2 by lia.
  apply Z.bits_inj'. intros n Hn. rewrite Z.land_spec. destruct (Z.lt_ge_cases n s).
  - rewrite !Z.shiftl_spec_low by lia. apply andb_false_r.
  - rewrite !Z.shiftl_spec by lia. rewrite Z.land_spec, Z.shiftr_spec by lia. repeat f_equal. lia.
Qed.

Lemma land_disjoint : forall a b s, 0 <= s -> 0 <= b < 2 ^ s -> Z.land (a * 2 ^ s) b = 0.
Proof.
  intros a b s Hs Hb. rewrite <- Z.shiftl_mul_pow2 by lia. apply Z.bits_inj'. intros n Hn.
  rewrite Z.land_spec, Z.bits_0. destruct (Z.lt_ge_cases n s); [rewrite Z.shiftl_spec_low by lia; reflexivity|].
  destruct (Z.eq_dec b 0); [subst; rewrite Z.bits_0; apply andb_false_r|].
  rewrite (Z.bits_above_log2 b n); [apply andb_false_r|lia|].
  apply Z.log2_lt_pow2; [lia|]. apply Z.lt_le_trans with (2 ^ s); [lia|apply Z.pow_le_mono_r; lia].
Qed.

Lemma lor_disjoint : forall a b s, 0 <= s -> 0 <= b < 2 ^ s -> Z.lor (a * 2 ^ s) b = a * 2 ^ s + b.
Proof.
  intros. assert (H1 := land_disjoint a b s H H0). symmetry. rewrite Z.add_nocarry_lxor by assumption.
  apply Z.lxor_lor. assumption.
Qed.

(* All ones: `xor` complements. *)
Lemma lxor_ones : forall a k, 0 <= k -> 0 <= a < 2 ^ k -> Z.lxor a (2 ^ k - 1) = 2 ^ k - 1 - a.
Proof.
  intros a k Hk Ha. assert (E : 2 ^ k - 1 = Z.ones k) by (rewrite Z.ones_equiv; lia). rewrite E.
  assert (D : Z.land a (Z.lxor a (Z.ones k)) = 0).
  { apply Z.bits_inj'. intros n Hn. rewrite Z.land_spec, Z.lxor_spec, Z.bits_0.
    destruct (Z.lt_ge_cases n k); [rewrite Z.ones_spec_low by lia; destruct (Z.testbit a n); reflexivity|].
    destruct (Z.eq_dec a 0); [subst; rewrite Z.bits_0; reflexivity|].
    rewrite (Z.bits_above_log2 a n); [reflexivity|lia|].
    apply Z.log2_lt_pow2; [lia|]. apply Z.lt_le_trans with (2 ^ k); [lia|apply Z.pow_le_mono_r; lia]. }
  pose proof (Z.add_nocarry_lxor _ _ D) as S. rewrite <- Z.lxor_assoc, Z.lxor_nilpotent, Z.lxor_0_l in S. lia.
Qed.

(* The leading bit, moved to the 256th. *)
Lemma clz_spec : forall a, 0 < a < W -> 0 <= clz a < 256 /\ 2 ^ 255 <= a * 2 ^ clz a < W.
Proof.
  intros a Ha. unfold clz. replace (a =? 0) with false by (symmetry; apply Z.eqb_neq; lia).
  pose proof (Z.log2_spec a ltac:(lia)) as [L H]. pose proof (Z.log2_nonneg a).
  assert (Z.log2 a < 256) by (apply Z.log2_lt_pow2; [lia|apply Ha]).
  split; [lia|]. rewrite <- Z.add_1_r in H.
  assert (P : 0 < 2 ^ (255 - Z.log2 a)) by (apply pow_pos; lia).
  assert (E : 2 ^ 255 = 2 ^ Z.log2 a * 2 ^ (255 - Z.log2 a)) by (apply pow_split; lia).
  assert (E' : W = 2 ^ (Z.log2 a + 1) * 2 ^ (255 - Z.log2 a))
    by (unfold W; rewrite <- Z.pow_add_r by lia; f_equal; lia).
  split; [rewrite E; apply Z.mul_le_mono_nonneg_r; lia|rewrite E'; apply Z.mul_lt_mono_pos_r; lia].
Qed.

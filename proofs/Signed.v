(* SPDX-License-Identifier: MIT *)
(* More of the EVM's operations, which the compiler's intermediate code uses: comparisons, and words as int256. *)
Require Import ZArith Lia Bool.
Require Import Evm.
Open Scope Z_scope.

Definition lt (a b : Z) := b2z (a <? b).
Definition slt (a b : Z) := b2z (int a <? int b).
Definition sgt (a b : Z) := b2z (int b <? int a).
(* The opcode SAR, for shifts below 256: the others give the sign alone. *)
Definition sarWord (s a : Z) := if s <? 256 then uint (sar s (int a)) else uint (sar 256 (int a)).

Definition word (a : Z) := 0 <= a < W.
Definition int256 (z : Z) := - 2 ^ 255 <= z < 2 ^ 255.

Lemma b2z_word : forall b, word (b2z b).
Proof. intros [|]; split; reflexivity || discriminate. Qed.

Lemma b2z_zero : forall b, (b2z b =? 0) = negb b.
Proof. intros [|]; reflexivity. Qed.

Lemma iszero_b2z : forall b, iszero (b2z b) = b2z (negb b).
Proof. intros [|]; reflexivity. Qed.

Lemma int_range : forall z, int256 (int z).
Proof. intros. unfold int, int256, W. pose proof (Z.mod_pos_bound (z + 2 ^ 255) (2 ^ 256) eq_refl). lia. Qed.

Lemma int_uint : forall z, int (uint z) = int z.
Proof. intros. unfold int, uint. rewrite Z.add_mod_idemp_l by discriminate. reflexivity. Qed.

Lemma uint_int : forall z, uint (int z) = uint z.
Proof.
  intros. unfold int, uint. rewrite Zminus_mod, Z.mod_mod, <- Zminus_mod by discriminate. f_equal. lia.
Qed.

Lemma int_word : forall w, word w -> uint (int w) = w.
Proof. intros. rewrite uint_int. apply uint_small. assumption. Qed.

Lemma int_int : forall z, int (int z) = int z.
Proof. intros. apply int_small. apply int_range. Qed.

(* An operand that is the word of an integer: the other may be any word. *)
Lemma add_uint : forall a b, add (uint a) b = uint (int (a + b)).
Proof. intros. rewrite uint_int. unfold add, uint. apply Z.add_mod_idemp_l. discriminate. Qed.

Lemma sub_uint : forall a b, sub (uint a) b = uint (int (a - b)).
Proof. intros. rewrite uint_int. unfold sub, uint. apply Zminus_mod_idemp_l. Qed.

Lemma sub_of_uint : forall a b, sub a (uint b) = uint (int (a - b)).
Proof. intros. rewrite uint_int. unfold sub, uint. apply Zminus_mod_idemp_r. Qed.

Lemma add_uints : forall a b, add (uint a) (uint b) = uint (int (a + b)).
Proof. intros. rewrite uint_int. symmetry. apply Zplus_mod. Qed.

Lemma sub_uints : forall a b, sub (uint a) (uint b) = uint (int (a - b)).
Proof. intros. rewrite uint_int. symmetry. apply Zminus_mod. Qed.

Lemma eq_uints : forall a b, int256 a -> int256 b -> eq (uint a) (uint b) = b2z (a =? b).
Proof.
  intros a b Ha Hb. unfold eq. destruct (Z.eqb_spec a b) as [->|N]; [rewrite Z.eqb_refl; reflexivity|].
  destruct (Z.eqb_spec (uint a) (uint b)) as [E|]; [|reflexivity]. exfalso. apply N.
  rewrite <- (int_small a Ha), <- (int_small b Hb), <- (int_uint a), <- (int_uint b), E. reflexivity.
Qed.

Lemma slt_uint : forall a b, slt (uint a) b = b2z (int a <? int b).
Proof. intros. unfold slt. rewrite int_uint. reflexivity. Qed.

Lemma sgt_uint : forall a b, sgt (uint a) b = b2z (int b <? int a).
Proof. intros. unfold sgt. rewrite int_uint. reflexivity. Qed.

Lemma shl_uint : forall s z, 0 <= s < 256 -> shl s (uint z) = uint (int (z * 2 ^ s)).
Proof.
  intros s z Hs. rewrite uint_int. unfold shl, uint. replace (s <? 256) with true by (symmetry; apply Z.ltb_lt; lia).
  apply Z.mul_mod_idemp_l. discriminate.
Qed.

Lemma sar_uint : forall s z, s < 256 -> int256 z -> sarWord s (uint z) = uint (sar s z).
Proof.
  intros s z Hs Hz. unfold sarWord. rewrite int_uint, int_small by exact Hz.
  replace (s <? 256) with true by (symmetry; apply Z.ltb_lt; lia). reflexivity.
Qed.

(* A branch on a truth value. *)
Lemma if_b2z : forall (A : Type) b (x y : A), (if b2z b =? 0 then x else y) = if b then y else x.
Proof. intros A [|] x y; reflexivity. Qed.

Lemma uint_word : forall z, word (uint z).
Proof. intros. apply Z.mod_pos_bound. reflexivity. Qed.

(* SPDX-License-Identifier: MIT *)
(* PositionalMerkle.sol: an opening that is accepted has the list's leaf at the index, or shows a collision. *)
Require Import ZArith Lia Bool List.
Require Import Evm.
Import ListNotations.
Open Scope Z_scope.

Section Merkle.

(* The hash of 64 bytes: two nodes. *)
Variable hash : Z -> Z -> Z.

(* PositionalMerkle._climb: a left child is hashed first. *)
Fixpoint climb (node index : Z) (siblings : list Z) : Z :=
  match siblings with
  | [] => node
  | sibling :: rest =>
    climb (if Z.land index 1 =? 0 then hash node sibling else hash sibling node) (shr 1 index) rest
  end.

(* PositionalMerkle.depth, rootFromPath, nodeUnder, leafUnder: None reverts. *)
Definition depth (width : Z) : option Z := if width =? 0 then None else Some (sub 256 (clz (sub width 1))).
Definition rootFromPath (node index : Z) (siblings : list Z) : option Z :=
  let levels := Z.of_nat (length siblings) in
  if (levels <? 256) && (shr levels index =? 0) then Some (climb node index siblings) else None.
Definition nodeUnder (ancestor levels node index : Z) (siblings : list Z) : option bool :=
  if Z.of_nat (length siblings) =? levels then
    match rootFromPath node index siblings with Some root => Some (root =? ancestor) | None => None end
  else None.
Definition leafUnder (root width leaf index : Z) (siblings : list Z) : option bool :=
  if index <? width then
    match depth width with Some levels => nodeUnder root levels leaf index siblings | None => None end
  else None.

(* What is specified: the root of 2^levels leaves, where every pair of neighbours gives one node of the next level; and
   the least number of levels with enough leaves. *)
Fixpoint rootOf (levels : nat) (leafAt : Z -> Z) : Z :=
  match levels with
  | O => leafAt 0
  | S n => rootOf n (fun k => hash (leafAt (2 * k)) (leafAt (2 * k + 1)))
  end.
Definition levelsFor (width : Z) : nat := Z.to_nat (Z.log2_up width).

(* The pairs of nodes that a path hashes, and those above a leaf of the list, lowest first. Somebody who has an opening
   and the list has all of these: a collision among them is found, and is not one that merely exists. *)
Fixpoint pairsOfPath (node index : Z) (siblings : list Z) : list (Z * Z) :=
  match siblings with
  | [] => []
  | sibling :: rest =>
    let '(a, b) := if Z.even index then (node, sibling) else (sibling, node) in
    (a, b) :: pairsOfPath (hash a b) (index / 2) rest
  end.
Fixpoint pairsAbove (levels : nat) (leafAt : Z -> Z) (index : Z) : list (Z * Z) :=
  match levels with
  | O => []
  | S n =>
    let first := 2 * (index / 2) in
    (leafAt first, leafAt (first + 1)) :: pairsAbove n (fun k => hash (leafAt (2 * k)) (leafAt (2 * k + 1))) (index / 2)
  end.
Definition Collision (some others : list (Z * Z)) : Prop :=
  exists a b c d, In ((a, b), (c, d)) (combine some others) /\ (a, b) <> (c, d) /\ hash a b = hash c d.

Lemma depth_is : forall width, 0 < width < W -> depth width = Some (Z.of_nat (levelsFor width)).
Proof.
  intros width Hw. unfold depth, levelsFor. replace (width =? 0) with false by (symmetry; apply Z.eqb_neq; lia).
  rewrite Z2Nat.id by apply Z.log2_up_nonneg. rewrite (sub_small width 1) by lia. f_equal. unfold clz.
  destruct (Z.eqb_spec (width - 1) 0) as [E|E].
  - replace width with 1 by lia. reflexivity.
  - assert (L : Z.log2 (width - 1) < 256) by (apply Z.log2_lt_pow2; [lia|unfold W in Hw; lia]).
    pose proof (Z.log2_nonneg (width - 1)). rewrite sub_small by (unfold W; lia).
    rewrite Z.log2_up_eqn by lia. replace (Z.pred width) with (width - 1) by lia. lia.
Qed.

Lemma climb_fixes : forall siblings leafAt node index, 0 <= index < 2 ^ Z.of_nat (length siblings) ->
  climb node index siblings = rootOf (length siblings) leafAt ->
  node = leafAt index \/ Collision (pairsOfPath node index siblings) (pairsAbove (length siblings) leafAt index).
Proof.
  induction siblings as [|s rest IH]; intros leafAt node index Hi H.
  - left. cbn [length] in Hi. replace index with 0 by (change (2 ^ Z.of_nat 0) with 1 in Hi; lia). exact H.
  - cbn [length rootOf climb pairsOfPath pairsAbove] in *. rewrite Nat2Z.inj_succ, Z.pow_succ_r in Hi by lia.
    assert (Q : shr 1 index = index / 2) by reflexivity. rewrite Q in H.
    pose proof (Z.div_mod index 2 ltac:(lia)) as D. pose proof (Z.mod_pos_bound index 2 ltac:(lia)) as M.
    assert (R : 0 <= index / 2 < 2 ^ Z.of_nat (length rest)) by lia.
    assert (P : (Z.land index 1 =? 0) = Z.even index).
    { change (Z.land index 1) with (Z.land index (2 ^ 1 - 1)). rewrite land_ones_low by lia. change (2 ^ 1) with 2.
      rewrite Zeven_mod. unfold Zeq_bool. destruct (Z.eqb_spec (index mod 2) 0) as [->|N]; [reflexivity|].
      replace (index mod 2) with 1 by lia. reflexivity. }
    rewrite P in H. rewrite Zeven_mod in *. unfold Zeq_bool in *.
    set (first := 2 * (index / 2)) in *.
    assert (Later : forall n p rest', Collision (pairsOfPath n (index / 2) rest) rest' ->
      Collision (fst p :: pairsOfPath n (index / 2) rest) (snd p :: rest')).
    { intros n p rest' (a & b & c & d & I & C). exists a, b, c, d. split; [right; exact I|exact C]. }
    destruct (Z.compare_spec (index mod 2) 0) as [E|E|E]; [|lia|].
    all: destruct (IH _ _ _ R H) as [K|K]; [cbv beta in K; fold first in K|right; apply (Later _ (_, _) _ K)].
    + destruct (Z.eq_dec node (leafAt index)) as [L|L]; [left; exact L|right].
      exists node, s, (leafAt first), (leafAt (first + 1)). split; [left; reflexivity|]. split; [|exact K].
      replace first with index by lia. congruence.
    + destruct (Z.eq_dec node (leafAt index)) as [L|L]; [left; exact L|right].
      exists s, node, (leafAt first), (leafAt (first + 1)). split; [left; reflexivity|]. split; [|exact K].
      replace (first + 1) with index by lia. congruence.
Qed.

(* An accepted opening: its index is below the width, and its leaf is the list's, whatever the leaves past the width. *)
Theorem leafUnder_fixes : forall leafAt width leaf index siblings, 0 < width < W -> 0 <= index ->
  leafUnder (rootOf (levelsFor width) leafAt) width leaf index siblings = Some true ->
  index < width /\ length siblings = levelsFor width /\
  (leaf = leafAt index \/ Collision (pairsOfPath leaf index siblings) (pairsAbove (levelsFor width) leafAt index)).
Proof.
  intros leafAt width leaf index siblings Hw Hi H. unfold leafUnder in H.
  destruct (Z.ltb_spec index width) as [L|L]; [|discriminate]. rewrite depth_is in H by assumption.
  unfold nodeUnder, rootFromPath in H. destruct (Z.eqb_spec (Z.of_nat (length siblings)) (Z.of_nat (levelsFor width))) as [E|E];
    [|discriminate]. apply Nat2Z.inj in E.
  destruct (_ && _); [|discriminate]. injection H as H. apply Z.eqb_eq in H. rewrite <- E in H.
  split; [exact L|]. split; [exact E|]. rewrite <- E. apply climb_fixes; [|exact H].
  rewrite E. unfold levelsFor. rewrite Z2Nat.id by apply Z.log2_up_nonneg. split; [exact Hi|].
  apply Z.lt_le_trans with (1 := L). destruct (Z.eq_dec width 1) as [->|N]; [reflexivity|]. apply Z.log2_up_spec. lia.
Qed.

(* The path of a leaf, lowest sibling first: the opening of every leaf is accepted. *)
Fixpoint pathOf (levels : nat) (leafAt : Z -> Z) (index : Z) : list Z :=
  match levels with
  | O => []
  | S n => leafAt (if Z.even index then index + 1 else index - 1)
      :: pathOf n (fun k => hash (leafAt (2 * k)) (leafAt (2 * k + 1))) (index / 2)
  end.

Lemma climb_path : forall levels leafAt index, 0 <= index < 2 ^ Z.of_nat levels ->
  climb (leafAt index) index (pathOf levels leafAt index) = rootOf levels leafAt.
Proof.
  induction levels as [|n IH]; intros leafAt index Hi.
  - cbn. f_equal. change (2 ^ Z.of_nat 0) with 1 in Hi. lia.
  - cbn [pathOf climb rootOf]. rewrite Nat2Z.inj_succ, Z.pow_succ_r in Hi by lia.
    change (shr 1 index) with (index / 2).
    pose proof (Z.div_mod index 2 ltac:(lia)) as D. pose proof (Z.mod_pos_bound index 2 ltac:(lia)) as M.
    rewrite <- (IH _ (index / 2)) by lia. f_equal. cbv beta.
    change (Z.land index 1) with (Z.land index (2 ^ 1 - 1)). rewrite land_ones_low by lia. change (2 ^ 1) with 2.
    rewrite Zeven_mod. unfold Zeq_bool. destruct (Z.eqb_spec (index mod 2) 0) as [Z0|Z0].
    + rewrite Z0. cbn [Z.compare]. f_equal; f_equal; lia.
    + replace (index mod 2) with 1 by lia. cbn [Z.compare]. f_equal; f_equal; lia.
Qed.

Lemma pathOf_length : forall levels leafAt index, length (pathOf levels leafAt index) = levels.
Proof. induction levels; intros; cbn [pathOf length]; [reflexivity|]. f_equal. apply IHlevels. Qed.

Theorem leafUnder_accepts : forall leafAt width index, 0 < width <= 2 ^ 255 -> 0 <= index < width ->
  leafUnder (rootOf (levelsFor width) leafAt) width (leafAt index) index (pathOf (levelsFor width) leafAt index) = Some true.
Proof.
  intros leafAt width index Hw Hi. unfold leafUnder. replace (index <? width) with true by (symmetry; apply Z.ltb_lt; lia).
  rewrite depth_is by (unfold W; lia). unfold nodeUnder, rootFromPath. rewrite pathOf_length, Z.eqb_refl.
  pose proof (Z.log2_up_nonneg width) as N.
  assert (B : 0 <= index < 2 ^ Z.of_nat (levelsFor width)).
  { unfold levelsFor. rewrite Z2Nat.id by assumption. split; [lia|]. apply Z.lt_le_trans with (1 := proj2 Hi).
    destruct (Z.eq_dec width 1) as [->|K]; [reflexivity|]. apply Z.log2_up_spec. lia. }
  assert (U : Z.of_nat (levelsFor width) <= 255).
  { unfold levelsFor. rewrite Z2Nat.id by assumption. apply Z.log2_up_le_pow2; lia. }
  assert (I : 0 <= index < W) by (unfold W; lia).
  rewrite shr_div, Z.div_small, climb_path, Z.eqb_refl by (assumption || lia).
  replace (Z.of_nat (levelsFor width) <? 256) with true by (symmetry; apply Z.ltb_lt; lia). cbn [andb].
  rewrite Z.eqb_refl. reflexivity.
Qed.

End Merkle.

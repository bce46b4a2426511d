(* SPDX-License-Identifier: MIT *)
(* ExactSum.addProducts and ExactSum.round: the word of a sum of products of float32. *)
Require Import ZArith Reals Lia Lra Bool List.
From Flocq Require Import Core BinarySingleNaN Binary Bits.
Require Import Evm Rounding Format RoundTo Sum.
Open Scope Z_scope.

Definition FIELD := 0x7f800000.
Definition FRACTION := 0x7fffff.
Definition LEADING_BIT := 0x800000.
Definition MAGNITUDE := 0x7fffffff.
Definition SIGN32 := 0x80000000.
Definition ACC_WINDOWS := 0x60.
Definition LOW_HALF := 2 ^ 128 - 1.

Record Acc := { lowest : Z; low : Z; high : Z; highest : Z; flags : Z }.
Definition empty := {| lowest := 0; low := 0; high := 0; highest := 0; flags := 0 |}.

(* One turn of the loop of addProducts up to `sign`: p, m and the flag. *)
Definition product (x y : Z) : Z * Z * Z :=
  let xField := Z.land x FIELD in
  let yField := Z.land y FIELD in
  let p := shr 23 (add xField yField) in
  let m := mul (Z.lor (Z.land x FRACTION) LEADING_BIT) (Z.lor (Z.land y FRACTION) LEADING_BIT) in
  if Z.lor (iszero (mul xField yField)) (Z.land (Z.lor (add xField LEADING_BIT) (add yField LEADING_BIT)) SIGN32) =? 0
  then (p, m, 0)
  else
    let xMagnitude := Z.land x MAGNITUDE in
    let yMagnitude := Z.land y MAGNITUDE in
    let p := add p (add (iszero xField) (iszero yField)) in
    let m := mul (sub (Z.lor (Z.land x FRACTION) LEADING_BIT) (shl 23 (iszero xField)))
                 (sub (Z.lor (Z.land y FRACTION) LEADING_BIT) (shl 23 (iszero yField))) in
    if Z.lor (eq xField FIELD) (eq yField FIELD) =? 0 then (p, m, 0)
    else
      let flag := shl (shr 31 (Z.lxor x y)) 2 in
      let flag := if iszero (mul xMagnitude yMagnitude) =? 0 then flag else 1 in
      let flag := if Z.lor (gt xMagnitude FIELD) (gt yMagnitude FIELD) =? 0 then flag else 1 in
      (p, 0, flag).

(* The store to the window at the offset, 0x20 each. *)
Definition addToWindow (acc : Acc) (offset term : Z) : Acc :=
  let '(Build_Acc a b c d f) := acc in
  if offset =? 0 then Build_Acc (add a term) b c d f
  else if offset =? 0x20 then Build_Acc a (add b term) c d f
  else if offset =? 0x40 then Build_Acc a b (add c term) d f
  else Build_Acc a b c (add d term) f.

Definition addProduct (acc : Acc) (factors : Z * Z) : Acc :=
  let '(x, y) := factors in
  let '(p, m, flag) := product x y in
  let acc := Build_Acc (lowest acc) (low acc) (high acc) (highest acc) (Z.lor (flags acc) flag) in
  let sign := sub 0 (shr 31 (Z.lxor x y)) in
  addToWindow acc (Z.land (shr 2 p) ACC_WINDOWS) (sub (Z.lxor (shl (Z.land p 0x7f) m) sign) sign).

Definition addProducts (terms : list (Z * Z)) : Acc := fold_left addProduct terms empty.

(* ExactSum.special *)
Definition special (flags : Z) : Z :=
  if flags =? 2 then INFINITY32 else if flags =? 4 then Z.lor INFINITY32 SIGN32 else NAN32.

(* ExactSum.round, of float32 *)
Definition roundSum (acc : Acc) : Z :=
  if negb (flags acc =? 0) then special (flags acc) else
  let '(a, b, c, d) := (int (lowest acc), int (low acc), int (high acc), int (highest acc)) in
  let negative := int (d + sar 128 (int (c + sar 128 (int (b + sar 128 a))))) <? 0 in
  let '(a, b, c, d) := if negative then (int (- a), int (- b), int (- c), int (- d)) else (a, b, c, d) in
  let b := int (b + sar 128 a) in
  let c := int (c + sar 128 b) in
  let d := int (d + sar 128 c) in
  let word0 := Z.lor (shl 128 (uint b)) (Z.land (uint a) LOW_HALF) in
  let word1 := Z.lor (shl 128 (uint d)) (Z.land (uint c) LOW_HALF) in
  roundWords negative (shr 128 (uint d)) word1 word0 (-300).

(* The word that the chain gives for a sum of products. *)
Definition dot (terms : list (Z * Z)) : Z := roundSum (addProducts terms).

(* What is specified, by Flocq's numbers. *)
Definition zero32 (w : Z) : bool :=
  match floatOf 23 8 P23 P8 PM w with B754_zero _ _ _ => true | _ => false end.
Inductive kind := Finite | Nan | Infinite (negative : bool).
Definition kindOf (factors : Z * Z) : kind :=
  let '(x, y) := factors in
  if nan32 x || nan32 y then Nan
  else if finite32 x && finite32 y then Finite
  else if zero32 x || zero32 y then Nan
  else Infinite (xorb (negative32 x) (negative32 y)).
Definition same (k l : kind) : bool :=
  match k, l with
  | Finite, Finite | Nan, Nan => true
  | Infinite s, Infinite t => eqb s t
  | _, _ => false
  end.
Definition has (k : kind) (terms : list (Z * Z)) : bool := existsb (fun t => same (kindOf t) k) terms.
Definition sumOf (terms : list (Z * Z)) : R :=
  fold_right (fun t sum => real32 (fst t) * real32 (snd t) + sum)%R 0%R terms.
Definition is_word (t : Z * Z) : Prop := 0 <= fst t < 2 ^ 32 /\ 0 <= snd t < 2 ^ 32.

(* A word's parts. *)
Definition fieldOf (x : Z) := (x / 2 ^ 23) mod 2 ^ 8.
Definition mantissaOf (x : Z) := if fieldOf x =? 0 then x mod 2 ^ 23 else x mod 2 ^ 23 + 2 ^ 23.
Definition exponentOf (x : Z) := if fieldOf x =? 0 then 1 else fieldOf x.

Lemma land_FIELD : forall x, Z.land x FIELD = fieldOf x * 2 ^ 23.
Proof. intros. change FIELD with ((2 ^ 8 - 1) * 2 ^ 23). apply land_field; lia. Qed.
Lemma land_MAGNITUDE : forall x, Z.land x MAGNITUDE = x mod 2 ^ 31.
Proof. intros. apply (land_ones_low x 31). lia. Qed.
Lemma with_leading : forall x, Z.lor (Z.land x FRACTION) LEADING_BIT = x mod 2 ^ 23 + 2 ^ 23.
Proof.
  intros. change FRACTION with (2 ^ 23 - 1). rewrite land_ones_low by lia.
  change LEADING_BIT with (1 * 2 ^ 23). rewrite Z.lor_comm, lor_disjoint by (try apply Z.mod_pos_bound; lia). lia.
Qed.
Lemma fieldOf_range : forall x, 0 <= fieldOf x < 256.
Proof. intros. apply (Z.mod_pos_bound _ (2 ^ 8)). lia. Qed.
Lemma magnitude_parts : forall x, x mod 2 ^ 31 = fieldOf x * 2 ^ 23 + x mod 2 ^ 23.
Proof.
  intros. unfold fieldOf. replace (2 ^ 31) with (2 ^ 23 * 2 ^ 8) by reflexivity.
  rewrite Z.rem_mul_r by lia. lia.
Qed.

(* Finite factors: the product is p and m, whichever branch is taken. *)
Lemma product_finite : forall x y, fieldOf x < 255 -> fieldOf y < 255 ->
  product x y = (exponentOf x + exponentOf y, mantissaOf x * mantissaOf y, 0).
Proof.
  intros x y Hx Hy. unfold product. rewrite !land_FIELD, !with_leading.
  pose proof (fieldOf_range x) as Rx. pose proof (fieldOf_range y) as Ry.
  pose proof (Z.mod_pos_bound x (2 ^ 23) ltac:(lia)) as Mx. pose proof (Z.mod_pos_bound y (2 ^ 23) ltac:(lia)) as My.
  unfold exponentOf, mantissaOf. generalize dependent (fieldOf x). generalize dependent (fieldOf y).
  revert Mx My. generalize (x mod 2 ^ 23) as mx. generalize (y mod 2 ^ 23) as my. intros my mx Mx My fy Hy Ry fx Hx Rx.
  assert (P : shr 23 (add (fx * 2 ^ 23) (fy * 2 ^ 23)) = fx + fy).
  { rewrite add_small by (unfold W; lia). rewrite shr_div by (unfold W; lia).
    rewrite <- Z.mul_add_distr_r. apply Z.div_mul. lia. }
  assert (S : forall k m, 0 <= k < 255 -> 0 <= m < 2 ^ 23 ->
    sub (m + 2 ^ 23) (shl 23 (iszero (k * 2 ^ 23))) = if k =? 0 then m else m + 2 ^ 23).
  { intros k m Hk Hm. unfold iszero. destruct (Z.eqb_spec k 0) as [->|K].
    - change (shl 23 (b2z (0 * 2 ^ 23 =? 0))) with (2 ^ 23). rewrite sub_small by (unfold W; lia). lia.
    - replace (k * 2 ^ 23 =? 0) with false by (symmetry; apply Z.eqb_neq; lia). change (shl 23 (b2z false)) with 0.
      rewrite sub_small by (unfold W; lia). lia. }
  assert (Zk : forall k, 0 <= k < 255 -> iszero (k * 2 ^ 23) = if k =? 0 then 1 else 0).
  { intros k Hk. unfold iszero. destruct (Z.eqb_spec k 0) as [->|K]; [reflexivity|].
    replace (k * 2 ^ 23 =? 0) with false by (symmetry; apply Z.eqb_neq; lia). reflexivity. }
  assert (Mul : forall a b, 0 <= a < 2 ^ 24 -> 0 <= b < 2 ^ 24 -> mul a b = a * b).
  { intros a b Ha Hb. apply mul_small. unfold W. nia. }
  assert (F : forall k, 0 <= k < 255 -> eq (k * 2 ^ 23) FIELD = 0).
  { intros k Hk. unfold eq, FIELD. replace (k * 2 ^ 23 =? _) with false by (symmetry; apply Z.eqb_neq; lia). reflexivity. }
  rewrite P, !S, !Zk, !F by lia. change (Z.lor 0 0 =? 0) with true.
  match goal with |- (if ?c =? 0 then _ else _) = _ => destruct (Z.eqb_spec c 0) as [C|C] end; cbv iota.
  - apply Z.lor_eq_0_iff in C. destruct C as [C _]. unfold iszero in C.
    rewrite mul_small in C by (unfold W; nia).
    assert (fx <> 0 /\ fy <> 0) as [Nx Ny].
    { split; intros ->; revert C; rewrite ?Z.mul_0_l, ?Z.mul_0_r; discriminate. }
    apply Z.eqb_neq in Nx, Ny. rewrite Nx, Ny, Mul by lia. reflexivity.
  - rewrite Mul by (destruct (fx =? 0), (fy =? 0); lia).
    f_equal. f_equal. rewrite (add_small (if fx =? 0 then 1 else 0)) by (unfold W; destruct (fx =? 0), (fy =? 0); lia).
    rewrite add_small by (unfold W; destruct (fx =? 0), (fy =? 0); lia).
    destruct (Z.eqb_spec fx 0), (Z.eqb_spec fy 0); lia.
Qed.

(* A factor that is no finite number: nothing is added, and the flag is by this. *)
Definition flagBy (x y : Z) : Z :=
  if (2 ^ 23 * 255 <? x mod 2 ^ 31) || (2 ^ 23 * 255 <? y mod 2 ^ 31) then 1
  else if (x mod 2 ^ 31 =? 0) || (y mod 2 ^ 31 =? 0) then 1
  else if xorb (2 ^ 31 <=? x) (2 ^ 31 <=? y) then 4 else 2.

Lemma sign_of_product : forall x y, 0 <= x < 2 ^ 32 -> 0 <= y < 2 ^ 32 ->
  shr 31 (Z.lxor x y) = b2z (xorb (2 ^ 31 <=? x) (2 ^ 31 <=? y)).
Proof.
  intros x y Hx Hy. unfold shr. change (31 <? 256) with true. cbv iota. rewrite <- Z.shiftr_div_pow2 by lia.
  rewrite Z.shiftr_lxor, !Z.shiftr_div_pow2 by lia.
  assert (D : forall z, 0 <= z < 2 ^ 32 -> z / 2 ^ 31 = b2z (2 ^ 31 <=? z)).
  { intros z Hz. destruct (Z.leb_spec (2 ^ 31) z); cbn [b2z].
    - symmetry. apply Z.div_unique with (z - 2 ^ 31); lia.
    - apply Z.div_small. lia. }
  rewrite !D by assumption. destruct (2 ^ 31 <=? x), (2 ^ 31 <=? y); reflexivity.
Qed.

Lemma product_special : forall x y, 0 <= x < 2 ^ 32 -> 0 <= y < 2 ^ 32 -> fieldOf x = 255 \/ fieldOf y = 255 ->
  exists p, product x y = (p, 0, flagBy x y).
Proof.
  intros x y Wx Wy H. unfold product. rewrite !land_FIELD, !land_MAGNITUDE, sign_of_product by assumption.
  pose proof (fieldOf_range x) as Rx. pose proof (fieldOf_range y) as Ry.
  assert (C : Z.lor (iszero (mul (fieldOf x * 2 ^ 23) (fieldOf y * 2 ^ 23)))
    (Z.land (Z.lor (add (fieldOf x * 2 ^ 23) LEADING_BIT) (add (fieldOf y * 2 ^ 23) LEADING_BIT)) SIGN32) <> 0).
  { intros C. apply Z.lor_eq_0_iff in C. destruct C as [_ C]. rewrite Z.land_lor_distr_l in C.
    apply Z.lor_eq_0_iff in C. destruct C as [Cx Cy]. destruct H as [H|H]; rewrite H in *; discriminate. }
  apply Z.eqb_neq in C. rewrite C.
  assert (E : Z.lor (eq (fieldOf x * 2 ^ 23) FIELD) (eq (fieldOf y * 2 ^ 23) FIELD) <> 0).
  { intros E. apply Z.lor_eq_0_iff in E. destruct E as [Ex Ey]. destruct H as [H|H]; rewrite H in *; discriminate. }
  apply Z.eqb_neq in E. rewrite E. eexists. f_equal. unfold flagBy.
  pose proof (Z.mod_pos_bound x (2 ^ 31) ltac:(lia)) as Mx. pose proof (Z.mod_pos_bound y (2 ^ 31) ltac:(lia)) as My.
  revert Mx My. generalize (x mod 2 ^ 31) as a. generalize (y mod 2 ^ 31) as b. intros b a Mx My.
  rewrite mul_small by (unfold W; nia). unfold gt, FIELD. change (2 ^ 23 * 255) with 0x7f800000.
  destruct (0x7f800000 <? a), (0x7f800000 <? b); cbn [orb b2z]; try reflexivity.
  change (Z.lor 0 0 =? 0) with true. cbv iota. unfold iszero.
  destruct (Z.eqb_spec a 0) as [->|A]; [rewrite Z.mul_0_l; reflexivity|].
  destruct (Z.eqb_spec b 0) as [->|B]; [rewrite Z.mul_0_r; reflexivity|].
  replace (a * b =? 0) with false by (symmetry; apply Z.eqb_neq; nia). cbn [orb b2z].
  destruct (xorb _ _); reflexivity.
Qed.

(* The same parts by Flocq. *)
Lemma word_parts : forall x, 0 <= x < 2 ^ 32 ->
  x = signed 23 8 (2 ^ 31 <=? x) (x mod 2 ^ 31) /\ 0 <= x mod 2 ^ 31 < 2 ^ 31.
Proof.
  intros x Hx. split; [|apply Z.mod_pos_bound; lia]. unfold signed, SIGN.
  destruct (Z.leb_spec (2 ^ 31) x).
  - replace (x mod 2 ^ 31) with (x - 2 ^ 31) by (apply Z.mod_unique with 1; lia). change (2 ^ (23 + 8)) with (2 ^ 31). lia.
  - symmetry. apply Z.mod_small. lia.
Qed.

Lemma finite_parts : forall x, 0 <= x < 2 ^ 32 -> fieldOf x < 255 ->
  finite32 x = true /\ nan32 x = false /\
  real32 x = (IZR (if (2 ^ 31 <=? x) then - mantissaOf x else mantissaOf x) * bpow radix2 (exponentOf x - 150))%R.
Proof.
  intros x Hx Hf. destruct (word_parts x Hx) as [E R]. pose proof (magnitude_parts x) as Mp.
  pose proof (Z.mod_pos_bound x (2 ^ 23) ltac:(lia)) as Mx. pose proof (fieldOf_range x) as Rx.
  assert (HI : INFINITY 23 8 = 255 * 2 ^ 23) by reflexivity.
  destruct (finite_word 23 8 P23 P8 PM (2 ^ 31 <=? x) (x mod 2 ^ 31) ltac:(lia)) as (A & B & C & _).
  rewrite <- E in A, B, C. split; [assumption|]. split; [assumption|]. rewrite C.
  assert (Em : magnitude 23 8 (x mod 2 ^ 31) = (IZR (mantissaOf x) * bpow radix2 (exponentOf x - 150))%R).
  { unfold mantissaOf, exponentOf. rewrite Mp. destruct (Z.eqb_spec (fieldOf x) 0) as [F|F].
    - rewrite F, Z.mul_0_l, Z.add_0_l. rewrite magnitude_subnormal by (try reflexivity; lia). reflexivity.
    - replace (fieldOf x * 2 ^ 23 + x mod 2 ^ 23) with (x mod 2 ^ 23 + 2 ^ 23 + (fieldOf x - 1) * 2 ^ 23) by lia.
      rewrite magnitude_normal by (try reflexivity; lia). f_equal. f_equal.
      change (Format.lowest 23 8) with (-149). lia. }
  rewrite Em. destruct (2 ^ 31 <=? x); [rewrite opp_IZR; ring|reflexivity].
Qed.

Lemma zero_parts : forall x, 0 <= x < 2 ^ 32 -> zero32 x = (x mod 2 ^ 31 =? 0).
Proof.
  intros x Hx. destruct (word_parts x Hx) as [E R]. rewrite E at 1. unfold zero32, floatOf, binary_float_of_bits.
  rewrite (match_FF2B _ _ (fun _ => true) (fun _ => false) (fun _ _ => false) (fun _ _ _ => false)).
  unfold binary_float_of_bits_aux. rewrite split_signed by (try reflexivity; exact R).
  pose proof (magnitude_parts x) as Mp. pose proof (Z.mod_pos_bound x (2 ^ 23) ltac:(lia)) as Mx.
  pose proof (fieldOf_range x) as Rx.
  assert (D : x mod 2 ^ 31 / 2 ^ 23 = fieldOf x) by (rewrite Mp, Z.add_comm, Z.div_add, Z.div_small by lia; lia).
  assert (M : (x mod 2 ^ 31) mod 2 ^ 23 = x mod 2 ^ 23) by (rewrite Mp, Z.add_comm, Z.mod_add, Z.mod_mod by lia; reflexivity).
  rewrite D, M, Mp. unfold Zeq_bool. destruct (Z.compare_spec (fieldOf x) 0) as [F|F|F]; [|lia|].
  - rewrite F. destruct (x mod 2 ^ 23) eqn:Q; [reflexivity|reflexivity|lia].
  - replace (fieldOf x * 2 ^ 23 + x mod 2 ^ 23 =? 0) with false by (symmetry; apply Z.eqb_neq; lia).
    destruct (fieldOf x ?= 2 ^ 8 - 1); destruct (x mod 2 ^ 23) eqn:Q; try lia; try reflexivity;
    destruct (x mod 2 ^ 23 + 2 ^ 23); rewrite <- ?Q; try reflexivity.
Qed.

Lemma special_parts : forall x, 0 <= x < 2 ^ 32 -> fieldOf x = 255 ->
  finite32 x = false /\ nan32 x = (2 ^ 23 * 255 <? x mod 2 ^ 31) /\
  (nan32 x = false -> negative32 x = (2 ^ 31 <=? x)).
Proof.
  intros x Hx Hf. destruct (word_parts x Hx) as [E R]. pose proof (magnitude_parts x) as Mp.
  pose proof (Z.mod_pos_bound x (2 ^ 23) ltac:(lia)) as Mx.
  assert (HI : INFINITY 23 8 = 2 ^ 23 * 255) by reflexivity. assert (HS : SIGN 23 8 = 2 ^ 31) by reflexivity.
  destruct (Z.ltb_spec (2 ^ 23 * 255) (x mod 2 ^ 31)).
  - destruct (nan_word 23 8 P23 P8 PM (2 ^ 31 <=? x) (x mod 2 ^ 31) ltac:(lia)) as (A & B). rewrite <- E in A, B.
    rewrite A, B. repeat split. discriminate.
  - assert (Em : x mod 2 ^ 31 = INFINITY 23 8) by lia. rewrite Em in E.
    pose proof (infinite_word 23 8 P23 P8 PM (2 ^ 31 <=? x)) as I. rewrite <- E in I.
    unfold isFinite, isNaN, isNegative. destruct (floatOf 23 8 P23 P8 PM x); try discriminate.
    injection I as I. repeat split. intros _. exact I.
Qed.

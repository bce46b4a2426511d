(* SPDX-License-Identifier: MIT *)
(* The theorem about sums of products of float32: `dot_correct`. *)
Require Import ZArith Reals Lia Lra Bool List.
From Flocq Require Import Core BinarySingleNaN Binary Bits.
Require Import Evm Rounding Format RoundTo Sum Products.
Open Scope Z_scope.

Definition negativeProduct (t : Z * Z) := xorb (2 ^ 31 <=? fst t) (2 ^ 31 <=? snd t).
(* What a term adds, in units of 2^-300. *)
Definition units (t : Z * Z) : Z :=
  if (fieldOf (fst t) <? 255) && (fieldOf (snd t) <? 255) then
    (if negativeProduct t then -1 else 1) * (mantissaOf (fst t) * mantissaOf (snd t)) *
    2 ^ (exponentOf (fst t) + exponentOf (snd t))
  else 0.
Definition unitsOf (terms : list (Z * Z)) : Z := fold_right (fun t sum => units t + sum) 0 terms.
Definition flagOf (k : kind) : Z := match k with Finite => 0 | Nan => 1 | Infinite false => 2 | Infinite true => 4 end.

Definition BOUND := (2 ^ 48 - 1) * 2 ^ 127.
Definition represents (acc : Acc) (n S : Z) : Prop := exists a b c d,
  lowest acc = a mod W /\ low acc = b mod W /\ high acc = c mod W /\ highest acc = d mod W /\
  - (n * BOUND) <= a <= n * BOUND /\ - (n * BOUND) <= b <= n * BOUND /\
  - (n * BOUND) <= c <= n * BOUND /\ - (n * BOUND) <= d <= n * BOUND /\
  S = a + b * 2 ^ 128 + c * 2 ^ 256 + d * 2 ^ 384.

Lemma term_word : forall v s, 0 <= v < W ->
  sub (Z.lxor v (sub 0 (b2z s))) (sub 0 (b2z s)) = (if s then - v else v) mod W.
Proof.
  intros v [|] Hv; cbn [b2z].
  - change (sub 0 1) with (2 ^ 256 - 1). rewrite lxor_ones by (unfold W in *; lia). unfold sub. f_equal. lia.
  - change (sub 0 0) with 0. rewrite Z.lxor_0_r. unfold sub. f_equal. lia.
Qed.

Lemma add_mod : forall a t, add (a mod W) (t mod W) = (a + t) mod W.
Proof. intros. unfold add. symmetry. apply Z.add_mod. discriminate. Qed.

(* A term that one window gets. *)
Lemma window_represents : forall acc n S q t offset, represents acc n S -> - BOUND <= t <= BOUND ->
  offset = q * 32 -> 0 <= q < 4 ->
  represents (addToWindow acc offset (t mod W)) (n + 1) (S + t * 2 ^ (128 * q)).
Proof.
  intros acc n S q t offset (a & b & c & d & Ea & Eb & Ec & Ed & Ba & Bb & Bc & Bd & HS) Ht Ho Hq.
  destruct acc as [wa wb wc wd f]. cbn [lowest low high highest] in *. subst wa wb wc wd S.
  assert (C : q = 0 \/ q = 1 \/ q = 2 \/ q = 3) by lia. assert (HB : 0 <= BOUND) by (unfold BOUND; lia).
  assert (En : (n + 1) * BOUND = n * BOUND + BOUND) by ring.
  unfold represents. rewrite En. clear En.
  destruct C as [-> | [-> | [-> | ->]]]; subst offset.
  - exists (a + t), b, c, d. change (0 * 32) with 0. cbn [addToWindow Z.eqb lowest low high highest].
    rewrite add_mod. repeat split; lia.
  - exists a, (b + t), c, d. change (1 * 32) with 32. cbn [addToWindow Z.eqb Pos.eqb lowest low high highest].
    rewrite add_mod. repeat split; lia.
  - exists a, b, (c + t), d. change (2 * 32) with 64. cbn [addToWindow Z.eqb Pos.eqb lowest low high highest].
    rewrite add_mod. repeat split; lia.
  - exists a, b, c, (d + t). change (3 * 32) with 96. cbn [addToWindow Z.eqb Pos.eqb lowest low high highest].
    rewrite add_mod. repeat split; lia.
Qed.

Lemma flags_window : forall acc o t, flags (addToWindow acc o t) = flags acc.
Proof. intros [a b c d f] o t. unfold addToWindow. repeat destruct (_ =? _); reflexivity. Qed.

(* The flag of a term is of its kind. *)
Lemma kind_parts : forall x y, is_word (x, y) ->
  flagOf (kindOf (x, y)) = if (fieldOf x <? 255) && (fieldOf y <? 255) then 0 else flagBy x y.
Proof.
  intros x y [Hx Hy]. cbn [fst snd] in *. unfold kindOf, flagBy. rewrite !zero_parts by assumption.
  assert (Cases : forall z, 0 <= z < 2 ^ 32 ->
    (fieldOf z <? 255 = true /\ finite32 z = true /\ nan32 z = false /\ (2 ^ 23 * 255 <? z mod 2 ^ 31) = false /\
      (nan32 z = false -> negative32 z = (2 ^ 31 <=? z))) \/
    (fieldOf z <? 255 = false /\ finite32 z = false /\ nan32 z = (2 ^ 23 * 255 <? z mod 2 ^ 31) /\
      (nan32 z = false -> negative32 z = (2 ^ 31 <=? z)))).
  { intros z Hz. pose proof (fieldOf_range z) as R. destruct (Z.ltb_spec (fieldOf z) 255) as [F|F].
    - left. destruct (finite_parts z Hz F) as (A & B & _). destruct (word_parts z Hz) as [E M].
      pose proof (magnitude_parts z) as Mp. pose proof (Z.mod_pos_bound z (2 ^ 23) ltac:(lia)).
      assert (z mod 2 ^ 31 < INFINITY 23 8) by (change (INFINITY 23 8) with (255 * 2 ^ 23); lia).
      destruct (finite_word 23 8 P23 P8 PM (2 ^ 31 <=? z) (z mod 2 ^ 31) ltac:(lia)) as (_ & _ & _ & N). rewrite <- E in N.
      repeat split; try assumption; [apply Z.ltb_ge; lia|intros _; exact N].
    - right. destruct (special_parts z Hz ltac:(lia)) as (A & B & C). repeat split; assumption. }
  destruct (Cases x Hx) as [(A1 & B1 & C1 & D1 & N1)|(A1 & B1 & C1 & N1)];
  destruct (Cases y Hy) as [(A2 & B2 & C2 & D2 & N2)|(A2 & B2 & C2 & N2)];
  rewrite A1, A2, B1, B2; cbn [andb]; rewrite ?C1, ?C2 in *; rewrite ?D1, ?D2; cbn [orb]; try reflexivity;
  rewrite ?orb_false_r;
  repeat match goal with |- context [2 ^ 23 * 255 <? ?z] => destruct (2 ^ 23 * 255 <? z) end; cbn [orb]; try reflexivity;
  rewrite ?N1, ?N2 by reflexivity;
  destruct (_ || _); try reflexivity; destruct (xorb _ _); reflexivity.
Qed.

Lemma mantissaOf_range : forall x, 0 <= mantissaOf x < 2 ^ 24.
Proof.
  intros. pose proof (Z.mod_pos_bound x (2 ^ 23) ltac:(lia)). unfold mantissaOf. destruct (_ =? _); lia.
Qed.
Lemma exponentOf_range : forall x, 1 <= exponentOf x < 256.
Proof. intros. pose proof (fieldOf_range x). unfold exponentOf. destruct (Z.eqb_spec (fieldOf x) 0); lia. Qed.

Lemma addProduct_represents : forall acc n S x y, represents acc n S -> is_word (x, y) ->
  represents (addProduct acc (x, y)) (n + 1) (S + units (x, y)) /\
  flags (addProduct acc (x, y)) = Z.lor (flags acc) (flagOf (kindOf (x, y))).
Proof.
  intros acc n S x y HA HW. rewrite kind_parts by assumption. destruct HW as [Hx Hy]. cbn [fst snd] in *.
  unfold addProduct, units. cbn [fst snd]. rewrite sign_of_product by assumption.
  change (xorb (2 ^ 31 <=? x) (2 ^ 31 <=? y)) with (negativeProduct (x, y)). set (s := negativeProduct (x, y)).
  pose proof (fieldOf_range x). pose proof (fieldOf_range y).
  assert (HA' : forall f, represents (Build_Acc (lowest acc) (low acc) (high acc) (highest acc) f) n S)
    by (intros; exact HA).
  assert (Offset : forall p, Z.land (shr 2 p) ACC_WINDOWS = (p / 128) mod 4 * 32).
  { intros p. change ACC_WINDOWS with ((2 ^ 2 - 1) * 2 ^ 5). rewrite land_field by lia. unfold shr.
    change (2 <? 256) with true. cbv iota. rewrite Z.div_div by lia. reflexivity. }
  destruct ((fieldOf x <? 255) && (fieldOf y <? 255)) eqn:F.
  - apply andb_prop in F. destruct F as [Fx Fy]. apply Z.ltb_lt in Fx, Fy.
    rewrite product_finite by assumption.
    pose proof (mantissaOf_range x). pose proof (mantissaOf_range y).
    pose proof (exponentOf_range x). pose proof (exponentOf_range y).
    set (p := exponentOf x + exponentOf y) in *. set (m := mantissaOf x * mantissaOf y).
    assert (Hm : 0 <= m <= 2 ^ 48 - 1) by (unfold m; nia).
    rewrite flags_window. cbn [flags]. split; [|reflexivity].
    rewrite Offset. change 0x7f with (2 ^ 7 - 1). rewrite land_ones_low by lia.
    change (2 ^ 7) with 128. set (q := p / 128). set (r := p mod 128).
    assert (Hp : p = 128 * q + r) by (apply Z.div_mod; lia).
    assert (Hr : 0 <= r < 128) by (apply Z.mod_pos_bound; lia).
    assert (Hq : 0 <= q < 4) by lia.
    assert (H2r : 0 < 2 ^ r <= 2 ^ 127) by (split; [apply pow_pos; lia|apply Z.pow_le_mono_r; lia]).
    assert (Hv : 0 <= m * 2 ^ r <= BOUND) by (unfold BOUND; nia).
    assert (HBW : BOUND < W) by (unfold BOUND, W; lia).
    rewrite shl_small by lia. rewrite term_word by lia.
    replace ((if s then -1 else 1) * m * 2 ^ p) with ((if s then - (m * 2 ^ r) else m * 2 ^ r) * 2 ^ (128 * q)).
    + rewrite (Z.mod_small q) by lia. apply window_represents; [apply HA'|destruct s; lia|reflexivity|assumption].
    + rewrite Hp, Z.pow_add_r by lia. destruct s; ring.
  - assert (Fs : fieldOf x = 255 \/ fieldOf y = 255).
    { apply andb_false_iff in F. destruct F as [F|F]; apply Z.ltb_ge in F; lia. }
    destruct (product_special x y Hx Hy Fs) as [p ->]. rewrite flags_window. cbn [flags]. split; [|reflexivity].
    assert (Z0 : forall k, shl k 0 = 0) by (intros k; unfold shl; rewrite Z.mul_0_l; destruct (k <? 256); reflexivity).
    rewrite Z0.
    rewrite term_word by (split; reflexivity || lia). replace (if s then - 0 else 0) with 0 by (destruct s; reflexivity).
    rewrite Offset. rewrite <- (Z.mul_0_l (2 ^ (128 * ((p / 128) mod 4)))).
    apply window_represents; [apply HA'|unfold BOUND; lia|reflexivity|apply Z.mod_pos_bound; lia].
Qed.

Lemma represents_weaken : forall acc n m S, represents acc n S -> n <= m -> represents acc m S.
Proof.
  intros acc n m S (a & b & c & d & Ea & Eb & Ec & Ed & Ba & Bb & Bc & Bd & HS) H. exists a, b, c, d.
  assert (HB : 0 <= BOUND) by (unfold BOUND; lia).
  assert (n * BOUND <= m * BOUND) by (apply Z.mul_le_mono_nonneg_r; assumption). repeat split; try assumption; lia.
Qed.

Definition flagsOf (terms : list (Z * Z)) : Z :=
  b2z (has Nan terms) + 2 * b2z (has (Infinite false) terms) + 4 * b2z (has (Infinite true) terms).

Lemma flags_step : forall n p m k, Z.lor (b2z n + 2 * b2z p + 4 * b2z m) (flagOf k) =
  b2z (n || same k Nan) + 2 * b2z (p || same k (Infinite false)) + 4 * b2z (m || same k (Infinite true)).
Proof. intros [|] [|] [|] [| |[|]]; reflexivity. Qed.

Lemma addProducts_represents : forall terms acc n S a b c, Forall is_word terms -> represents acc n S ->
  flags acc = b2z a + 2 * b2z b + 4 * b2z c ->
  represents (fold_left addProduct terms acc) (n + Z.of_nat (length terms)) (S + unitsOf terms) /\
  flags (fold_left addProduct terms acc) = b2z (a || has Nan terms) + 2 * b2z (b || has (Infinite false) terms) +
    4 * b2z (c || has (Infinite true) terms).
Proof.
  induction terms as [|[x y] terms IH]; intros acc n S a b c HF HA HG.
  - cbn [fold_left length unitsOf fold_right has existsb]. rewrite !orb_false_r, !Z.add_0_r. split; assumption.
  - inversion HF as [|? ? Hw HF']; subst. destruct (addProduct_represents acc n S x y HA Hw) as [H1 H2].
    rewrite HG, flags_step in H2. destruct (IH _ _ _ _ _ _ HF' H1 H2) as [I1 I2].
    cbn [fold_left]. split.
    + replace (n + Z.of_nat (length ((x, y) :: terms))) with (n + 1 + Z.of_nat (length terms)) by (cbn [length]; lia).
      replace (S + unitsOf ((x, y) :: terms)) with (S + units (x, y) + unitsOf terms) by (cbn [unitsOf fold_right]; unfold unitsOf; lia).
      exact I1.
    + rewrite I2. unfold has. cbn [existsb]. rewrite !orb_assoc. reflexivity.
Qed.

(* Without a flag, the real sum is that of the units. *)
Lemma units_real : forall t, is_word t -> kindOf t = Finite ->
  (real32 (fst t) * real32 (snd t) = IZR (units t) * bpow radix2 (-300))%R.
Proof.
  intros [x y] Hw Hk. pose proof (kind_parts x y Hw) as K. rewrite Hk in K. cbn [flagOf] in K.
  destruct Hw as [Hx Hy]. cbn [fst snd] in *. unfold units. cbn [fst snd].
  destruct ((fieldOf x <? 255) && (fieldOf y <? 255)) eqn:F.
  - apply andb_prop in F. destruct F as [Fx Fy]. apply Z.ltb_lt in Fx, Fy.
    destruct (finite_parts x Hx Fx) as (_ & _ & Rx). destruct (finite_parts y Hy Fy) as (_ & _ & Ry). rewrite Rx, Ry.
    pose proof (exponentOf_range x). pose proof (exponentOf_range y).
    rewrite !mult_IZR. replace (IZR (2 ^ (exponentOf x + exponentOf y))) with (bpow radix2 (exponentOf x + exponentOf y))
      by (rewrite <- (IZR_Zpower radix2) by lia; reflexivity).
    rewrite !Rmult_assoc. rewrite <- (bpow_plus radix2 (exponentOf x + exponentOf y)).
    replace (exponentOf x + exponentOf y + -300) with (exponentOf x - 150 + (exponentOf y - 150)) by lia.
    rewrite bpow_plus. unfold negativeProduct. cbn [fst snd].
    destruct (2 ^ 31 <=? x), (2 ^ 31 <=? y); cbn [xorb]; rewrite ?opp_IZR; ring.
  - exfalso. revert K. unfold flagBy. repeat destruct (_ || _); try discriminate. destruct (xorb _ _); discriminate.
Qed.

Lemma sum_real : forall terms, Forall is_word terms -> has Nan terms = false -> has (Infinite false) terms = false ->
  has (Infinite true) terms = false -> sumOf terms = (IZR (unitsOf terms) * bpow radix2 (-300))%R.
Proof.
  induction terms as [|t terms IH]; intros HF H1 H2 H3; [simpl; ring|].
  inversion HF as [|? ? Hw HF']; subst. unfold has in H1, H2, H3. cbn [existsb] in H1, H2, H3.
  apply orb_false_elim in H1, H2, H3. destruct H1 as [A1 B1], H2 as [A2 B2], H3 as [A3 B3].
  assert (K : kindOf t = Finite) by (destruct (kindOf t) as [| |[|]]; try reflexivity; discriminate).
  cbn [sumOf unitsOf fold_right]. fold (sumOf terms). fold (unitsOf terms).
  rewrite (units_real t Hw K), IH by assumption. rewrite plus_IZR. ring.
Qed.

(* Carried windows. *)
Lemma carried : forall a b c d, let b' := b + a / 2 ^ 128 in let c' := c + b' / 2 ^ 128 in let d' := d + c' / 2 ^ 128 in
  a + b * 2 ^ 128 + c * 2 ^ 256 + d * 2 ^ 384 =
  d' * 2 ^ 384 + (c' mod 2 ^ 128) * 2 ^ 256 + (b' mod 2 ^ 128) * 2 ^ 128 + a mod 2 ^ 128.
Proof.
  intros. pose proof (Z.div_mod a (2 ^ 128) ltac:(lia)). pose proof (Z.div_mod b' (2 ^ 128) ltac:(lia)).
  pose proof (Z.div_mod c' (2 ^ 128) ltac:(lia)). unfold d', c', b' in *. lia.
Qed.

Lemma int_of_word : forall a, - 2 ^ 255 <= a < 2 ^ 255 -> int (a mod W) = a.
Proof. intros. unfold int. rewrite Z.add_mod_idemp_l by discriminate. apply int_small. assumption. Qed.

Lemma word_of : forall h l, Z.lor (shl 128 (uint h)) (Z.land (uint l) LOW_HALF) =
  (h mod 2 ^ 128) * 2 ^ 128 + l mod 2 ^ 128.
Proof.
  intros. unfold LOW_HALF, uint, shl. rewrite land_ones_low by lia. change (128 <? 256) with true. cbv iota.
  assert (D : forall z, (z mod W) mod 2 ^ 128 = z mod 2 ^ 128).
  { intros. change W with (2 ^ 128 * 2 ^ 128). rewrite Z.rem_mul_r by lia.
    rewrite Z.mul_comm, Z.mod_add, Z.mod_mod by lia. reflexivity. }
  rewrite D. replace ((h mod W * 2 ^ 128) mod W) with ((h mod 2 ^ 128) * 2 ^ 128).
  - apply lor_disjoint; [lia|apply Z.mod_pos_bound; lia].
  - rewrite <- (D h). change W with (2 ^ 128 * 2 ^ 128) at 3. rewrite Z.mul_mod_distr_r by lia. reflexivity.
Qed.

Definition SMALL := 2 ^ 255 - 2 ^ 200.
Lemma words_round : forall (s : bool) (a b c d : Z), - SMALL <= a <= SMALL -> - SMALL <= b <= SMALL -> - SMALL <= c <= SMALL ->
  - SMALL <= d <= SMALL -> 0 <= d + (c + (b + a / 2 ^ 128) / 2 ^ 128) / 2 ^ 128 ->
  let b := int (b + sar 128 a) in
  let c := int (c + sar 128 b) in
  let d' := int (d + sar 128 c) in
  let x := (IZR (a + (b - sar 128 a) * 2 ^ 128 + (c - sar 128 b) * 2 ^ 256 + d * 2 ^ 384) * bpow radix2 (-300))%R in
  rounds_to32 (if s then - x else x)%R (roundWords s (shr 128 (uint d'))
    (Z.lor (shl 128 (uint d')) (Z.land (uint c) LOW_HALF)) (Z.lor (shl 128 (uint b)) (Z.land (uint a) LOW_HALF)) (-300)).
Proof.
  intros s a b c d Ha Hb Hc Hd Hpos. unfold SMALL in *. unfold sar. cbv zeta.
  assert (Q : forall z, - 2 ^ 255 <= z < 2 ^ 255 -> - 2 ^ 127 <= z / 2 ^ 128 < 2 ^ 127).
  { intros z Hz. split; [apply Z.div_le_lower_bound; lia|apply Z.div_lt_upper_bound; lia]. }
  pose proof (Q a ltac:(lia)) as Qa. rewrite (int_small (b + _)) by lia. set (b' := b + a / 2 ^ 128) in *.
  pose proof (Q b' ltac:(unfold b'; lia)) as Qb. rewrite (int_small (c + _)) by lia. set (c' := c + b' / 2 ^ 128) in *.
  pose proof (Q c' ltac:(unfold c'; lia)) as Qc. rewrite (int_small (d + _)) by lia. set (d' := d + c' / 2 ^ 128) in *.
  rewrite !word_of. rewrite uint_small by (unfold W, d' in *; lia). rewrite shr_div by (unfold W, d' in *; lia).
  pose proof (Z.div_mod d' (2 ^ 128) ltac:(lia)) as Ed. pose proof (Z.mod_pos_bound d' (2 ^ 128) ltac:(lia)).
  pose proof (Z.mod_pos_bound c' (2 ^ 128) ltac:(lia)). pose proof (Z.mod_pos_bound b' (2 ^ 128) ltac:(lia)).
  pose proof (Z.mod_pos_bound a (2 ^ 128) ltac:(lia)).
  replace (a + (b' - a / 2 ^ 128) * 2 ^ 128 + (c' - b' / 2 ^ 128) * 2 ^ 256 + d * 2 ^ 384) with
    (d' / 2 ^ 128 * 2 ^ 512 + (d' mod 2 ^ 128 * 2 ^ 128 + c' mod 2 ^ 128) * 2 ^ 256 +
      (b' mod 2 ^ 128 * 2 ^ 128 + a mod 2 ^ 128)).
  - assert (0 <= d' / 2 ^ 128 < 2 ^ 127) by (split; [apply Z.div_pos; lia|apply Z.div_lt_upper_bound; unfold d'; lia]).
    apply roundWords_correct; unfold W; lia.
  - pose proof (carried a b c d) as K. cbv zeta in K. fold b' c' d' in K.
    replace (b' - a / 2 ^ 128) with b by (unfold b'; lia). replace (c' - b' / 2 ^ 128) with c by (unfold c'; lia).
    rewrite K. lia.
Qed.

Theorem roundSum_correct : forall acc n S, represents acc n S -> n <= 2 ^ 80 -> flags acc = 0 ->
  rounds_to32 (IZR S * bpow radix2 (-300)) (roundSum acc).
Proof.
  intros acc n S HR Hn HF. apply (represents_weaken _ _ (2 ^ 80) _) in HR; [|assumption].
  destruct HR as (a & b & c & d & Ea & Eb & Ec & Ed & Ba & Bb & Bc & Bd & HS).
  assert (HB : 2 ^ 80 * BOUND <= SMALL) by (unfold BOUND, SMALL; lia).
  unfold roundSum. rewrite HF. cbn [Z.eqb negb]. rewrite Ea, Eb, Ec, Ed.
  assert (HS255 : SMALL < 2 ^ 255) by (unfold SMALL; lia).
  rewrite !int_of_word by lia.
  assert (Q : forall z, - 2 ^ 255 <= z < 2 ^ 255 -> - 2 ^ 127 <= z / 2 ^ 128 < 2 ^ 127).
  { intros z Hz. split; [apply Z.div_le_lower_bound; lia|apply Z.div_lt_upper_bound; lia]. }
  assert (HS200 : SMALL = 2 ^ 255 - 2 ^ 200) by reflexivity.
  assert (Hd : int (d + sar 128 (int (c + sar 128 (int (b + sar 128 a))))) =
    d + (c + (b + a / 2 ^ 128) / 2 ^ 128) / 2 ^ 128).
  { unfold sar. pose proof (Q a ltac:(lia)). rewrite (int_small (b + _)) by lia.
    pose proof (Q (b + a / 2 ^ 128) ltac:(lia)). rewrite (int_small (c + _)) by lia.
    pose proof (Q (c + (b + a / 2 ^ 128) / 2 ^ 128) ltac:(lia)). rewrite int_small by lia. reflexivity. }
  rewrite Hd. pose proof (carried a b c d) as K. cbv zeta in K. rewrite <- HS in K.
  pose proof (Z.mod_pos_bound a (2 ^ 128) ltac:(lia)) as M0.
  pose proof (Z.mod_pos_bound (b + a / 2 ^ 128) (2 ^ 128) ltac:(lia)) as M1.
  pose proof (Z.mod_pos_bound (c + (b + a / 2 ^ 128) / 2 ^ 128) (2 ^ 128) ltac:(lia)) as M2.
  assert (Back : forall a b c d, - SMALL <= a <= SMALL -> - SMALL <= b <= SMALL -> - SMALL <= c <= SMALL ->
    let b' := int (b + sar 128 a) in let c' := int (c + sar 128 b') in
    a + (b' - sar 128 a) * 2 ^ 128 + (c' - sar 128 b') * 2 ^ 256 + d * 2 ^ 384 =
    a + b * 2 ^ 128 + c * 2 ^ 256 + d * 2 ^ 384).
  { intros a1 b1 c1 d1 H1 H2 H3. cbv zeta. unfold sar. pose proof (Q a1 ltac:(lia)). rewrite (int_small (b1 + _)) by lia.
    pose proof (Q (b1 + a1 / 2 ^ 128) ltac:(lia)). rewrite (int_small (c1 + _)) by lia. lia. }
  destruct (Z.ltb_spec (d + (c + (b + a / 2 ^ 128) / 2 ^ 128) / 2 ^ 128) 0) as [N|N]; cbv iota beta.
  - rewrite (int_small (- a)), (int_small (- b)), (int_small (- c)), (int_small (- d)) by lia.
    pose proof (carried (-a) (-b) (-c) (-d)) as K'. cbv zeta in K'.
    pose proof (Z.mod_pos_bound (-a) (2 ^ 128) ltac:(lia)).
    pose proof (Z.mod_pos_bound (-b + -a / 2 ^ 128) (2 ^ 128) ltac:(lia)).
    pose proof (Z.mod_pos_bound (-c + (-b + -a / 2 ^ 128) / 2 ^ 128) (2 ^ 128) ltac:(lia)).
    assert (P : 0 <= -d + (-c + (-b + -a / 2 ^ 128) / 2 ^ 128) / 2 ^ 128) by lia.
    pose proof (words_round true (-a) (-b) (-c) (-d) ltac:(lia) ltac:(lia) ltac:(lia) ltac:(lia) P) as R.
    cbv zeta in R. pose proof (Back (-a) (-b) (-c) (-d) ltac:(lia) ltac:(lia) ltac:(lia)) as B. cbv zeta in B.
    rewrite B in R. replace (- (IZR (-a + -b * 2 ^ 128 + -c * 2 ^ 256 + -d * 2 ^ 384) * bpow radix2 (-300)))%R
      with (IZR S * bpow radix2 (-300))%R in R; [exact R|].
    replace (-a + -b * 2 ^ 128 + -c * 2 ^ 256 + -d * 2 ^ 384) with (- S) by lia. rewrite opp_IZR. ring.
  - pose proof (words_round false a b c d ltac:(lia) ltac:(lia) ltac:(lia) ltac:(lia) N) as R.
    cbv zeta in R. pose proof (Back a b c d ltac:(lia) ltac:(lia) ltac:(lia)) as B. cbv zeta in B.
    rewrite B, <- HS in R. exact R.
Qed.

(* The word for at most 2^80 terms: NaN after a product that is NaN or infinities of both signs, else any infinity, else
   the real sum of all products, rounded once. *)
Theorem dot_correct : forall terms, Forall is_word terms -> Z.of_nat (length terms) <= 2 ^ 80 ->
  if has Nan terms || (has (Infinite false) terms && has (Infinite true) terms) then dot terms = NAN32
  else if has (Infinite false) terms then dot terms = INFINITY32
  else if has (Infinite true) terms then dot terms = NEG_INFINITY32
  else rounds_to32 (sumOf terms) (dot terms).
Proof.
  intros terms HF Hn. unfold dot, addProducts.
  assert (H0 : represents empty 0 0) by (exists 0, 0, 0, 0; repeat split; unfold BOUND; try lia; reflexivity).
  destruct (addProducts_represents terms empty 0 0 false false false HF H0 eq_refl) as [R G].
  cbn [orb] in G. rewrite !Z.add_0_l in R.
  destruct (has Nan terms) eqn:E1, (has (Infinite false) terms) eqn:E2, (has (Infinite true) terms) eqn:E3; cbn [orb andb];
    try (unfold roundSum; rewrite G; reflexivity).
  rewrite (sum_real terms HF E1 E2 E3). apply roundSum_correct with (Z.of_nat (length terms)); try assumption.
Qed.

(* A sum that goes on from another one, as where a step reads its factors in parts: the word of all terms. *)
Theorem dot_continued : forall first more, roundSum (fold_left addProduct more (addProducts first)) = dot (first ++ more).
Proof. intros. unfold dot, addProducts. rewrite fold_left_app. reflexivity. Qed.

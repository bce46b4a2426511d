(* SPDX-License-Identifier: MIT *)
(* ViewDecoder.sol and Views.sol: the element of the input that a view reads, for all terms that a placement holds. *)
Require Import ZArith Lia Bool List.
Require Import Evm Signed.
Import ListNotations.
Open Scope Z_scope.

Definition LOW32 := 2 ^ 32 - 1.
(* The opcode SIGNEXTEND for 4 bytes, and BYTE. *)
Definition signed32 (x : Z) := (x + 2 ^ 31) mod 2 ^ 32 - 2 ^ 31.
Definition signextend3 (x : Z) := uint (signed32 x).
Definition byte (k w : Z) := Z.land (shr (248 - 8 * k) w) 255.

Section Views.

(* A word of the calldata by position, and the digits' values by number. *)
Variable load : Z -> Z.
Variable digits : Z -> Z.
(* The digit that the coming terms count up, and the number of these terms. *)
Variables along terms : Z.
(* Of an earlier read by number: its integer, its step, and its terms left. *)
Variable views : Z -> Z * Z * Z.

(* Views._coordinate: the axis's word, the coordinate before any index and division, its move, and the axis's end. *)
Fixpoint coefficients (n : nat) (next c slope : Z) : Z * Z * Z :=
  match n with
  | O => (c, slope, next)
  | S n =>
    let w := load next in
    let factor := signextend3 (shr 216 w) in
    let digit := byte 0 w in
    coefficients n (add next 5) (add c (mul factor (digits digit))) (add slope (mul factor (eq digit along)))
  end.
Definition coordinate (position : Z) : Z * Z * Z * Z :=
  let head := load position in
  let '(c, slope, next) :=
    coefficients (Z.to_nat (byte 17 head)) (add position 18) (signextend3 (shr 160 head)) 0 in
  (head, int c, int slope, next).

(* Views._termsInside and _termsOutside *)
Definition termsInside (c extent move : Z) : Z :=
  add (if 0 <? move then sub (sub extent 1) c / uint move else c / uint (int (- move))) 1.
Definition termsOutside (c extent move : Z) : Z :=
  if c <? 0 then (if 0 <? move then uint (int (Z.quot (int (int (move - 1) - c)) move)) else W - 1)
  else (if move <? 0 then add (uint (int (Z.quot (int (c - extent)) (int (- move))))) 1 else W - 1).

(* Views._detour: the coordinate after index read and divisor, the terms for which that holds, and whether it is in
   bounds. *)
Definition detour (head c move : Z) : Z * Z * bool :=
  let extent := int (shr 224 head) in
  let read := Z.land (shr 120 head) 255 in
  let '(value, step, stay) := views read in
  let c := if read =? 255 then c else int (c + (if value <? 0 then int (value + extent) else value)) in
  let held := if read =? 255 then terms else if step =? 0 then stay else 1 in
  let divisor := int (Z.land (shr 128 head) LOW32) in
  let held := if (divisor =? 1) || (move =? 0) then held else 1 in
  if negb (divisor =? 1) && negb (Z.rem c divisor =? 0) then (c, Z.min held terms, false)
  else
    let c := if divisor =? 1 then c else int (Z.quot c divisor) in
    let inside := uint c <? uint extent in
    let held := if inside then held else Z.min held (termsOutside c extent move) in
    (c, Z.min held terms, inside).

(* Views._place without memory: the fill value for `left` terms; or an element, by how many elements a term moves that,
   and the terms for which that holds. *)
Inductive placed := OnFill (left : Z) | OnElement (element slope left : Z).
Definition plain (head c : Z) : bool := (Z.land (shr 120 head) (2 ^ 40 - 1) =? 511) && (uint c <? shr 224 head).
Fixpoint placeAxes (n : nat) (position element slope left : Z) : placed :=
  match n with
  | O => OnElement element slope left
  | S n =>
    let '(head, c, move, position) := coordinate position in
    let '(c, held, inside) := if plain head c then (c, left, true) else detour head c move in
    let left := Z.min left held in
    if negb inside then OnFill held
    else
      let stride := int (Z.land (shr 192 head) LOW32) in
      let element := add element (uint (int (c * stride))) in
      if move =? 0 then placeAxes n position element slope left
      else placeAxes n position element (int (slope + int (move * stride)))
             (Z.min left (termsInside (uint c) (shr 224 head) move))
  end.
Definition place (axes : nat) (position : Z) : placed := placeAxes axes position 0 0 terms.

(* What is specified (docs/program.md, "View"): axes in a body, and the element that they choose. *)
Record axis := {
  extent : Z; stride : Z; base : Z; divisor : Z; index : Z; (* 255 for none *)
  factors : list (Z * Z) (* a digit's number and its factor *)
}.
Definition axisAt (p : Z) : axis := {|
  extent := load p / 2 ^ 224;
  stride := load p / 2 ^ 192 mod 2 ^ 32;
  base := signed32 (load p / 2 ^ 160);
  divisor := load p / 2 ^ 128 mod 2 ^ 32;
  index := load p / 2 ^ 120 mod 2 ^ 8;
  factors :=
    map (fun k => let w := load (p + 18 + 5 * Z.of_nat k) in (w / 2 ^ 248, signed32 (w / 2 ^ 216)))
      (seq 0 (Z.to_nat (load p / 2 ^ 112 mod 2 ^ 8)))
|}.
Definition axisEnd (p : Z) : Z := p + 18 + 5 * (load p / 2 ^ 112 mod 2 ^ 8).
Fixpoint axesAt (n : nat) (p : Z) : list axis :=
  match n with O => [] | S n => axisAt p :: axesAt n (axisEnd p) end.

Definition total (l : list Z) : Z := fold_right Z.add 0 l.
Definition affine (d : Z -> Z) (a : axis) : Z := base a + total (map (fun '(digit, factor) => factor * d digit) (factors a)).
Definition indexed (v : Z -> Z) (a : axis) : Z :=
  if index a =? 255 then 0 else if v (index a) <? 0 then v (index a) + extent a else v (index a).
Definition coordinateOf (d v : Z -> Z) (a : axis) : option Z :=
  let c := affine d a + indexed v a in
  if (c mod divisor a =? 0) && (0 <=? c / divisor a) && (c / divisor a <? extent a) then Some (c / divisor a) else None.
Fixpoint elementOf (d v : Z -> Z) (axes : list axis) : option Z :=
  match axes with
  | [] => Some 0
  | a :: rest =>
    match coordinateOf d v a, elementOf d v rest with Some c, Some e => Some (c * stride a + e) | _, _ => None end
  end.
(* The digits `t` terms on. *)
Definition digitsAt (t k : Z) : Z := digits k + (if k =? along then t else 0).

(* Assumed: words of calldata; digits and terms as the step's decoder limits them; and index reads that are placed: their
   values at the coming terms, `valueAt t read`, are the current integer while they hold. *)
Hypothesis load_word : forall p, 0 <= load p < W.
Hypothesis digits_bound : forall k, 0 <= digits k < 2 ^ 64.
Hypothesis terms_bound : 1 <= terms <= 2 ^ 64.
Variable valueAt : Z -> Z -> Z.
Definition index_holds (read : Z) : Prop :=
  let '(value, step, stay) := views read in
  - 2 ^ 64 <= value <= 2 ^ 64 /\ 1 <= stay /\
  forall t, 0 <= t < (if step =? 0 then stay else 1) -> valueAt t read = value.
Hypothesis indexes_hold : forall read, index_holds read.

Lemma signed32_range : forall x, - 2 ^ 31 <= signed32 x < 2 ^ 31.
Proof. intros. unfold signed32. pose proof (Z.mod_pos_bound (x + 2 ^ 31) (2 ^ 32) eq_refl). lia. Qed.

Lemma field : forall p s k, 0 <= s < 256 -> 0 <= k -> Z.land (shr s (load p)) (2 ^ k - 1) = load p / 2 ^ s mod 2 ^ k.
Proof. intros. rewrite shr_div by (lia || apply load_word). apply land_ones_low. assumption. Qed.

Lemma field_range : forall p s k, 0 <= k -> 0 <= load p / 2 ^ s mod 2 ^ k < 2 ^ k.
Proof. intros. apply Z.mod_pos_bound. apply pow_pos. assumption. Qed.

Lemma top_field : forall p s, 0 <= s <= 256 -> 0 <= load p / 2 ^ s < 2 ^ (256 - s).
Proof.
  intros p s Hs. pose proof (load_word p). split; [apply Z.div_pos; [lia|apply pow_pos; lia]|].
  apply Z.div_lt_upper_bound; [apply pow_pos; lia|]. rewrite <- Z.pow_add_r by lia.
  replace (s + (256 - s)) with 256 by lia. apply H.
Qed.

Lemma uint_add : forall a b, add (uint a) (uint b) = uint (a + b).
Proof. intros. symmetry. apply Zplus_mod. Qed.

Lemma mul_uint : forall a b, mul (uint a) b = uint (a * b).
Proof. intros. unfold mul, uint. apply Z.mul_mod_idemp_l. discriminate. Qed.

Lemma coefficients_are : forall n next c slope, 0 <= next -> next + 5 * Z.of_nat n < W ->
  let list := map (fun k => let w := load (next + 5 * Z.of_nat k) in (w / 2 ^ 248, signed32 (w / 2 ^ 216))) (seq 0 n) in
  coefficients n next (uint c) (uint slope) =
    (uint (c + total (map (fun '(digit, factor) => factor * digits digit) list)),
     uint (slope + total (map (fun '(digit, factor) => factor * b2z (digit =? along)) list)), next + 5 * Z.of_nat n).
Proof.
  induction n as [|n IH]; intros next c slope H0 H.
  - cbn. rewrite !Z.add_0_r. reflexivity.
  - rewrite Nat2Z.inj_succ in *. cbn [coefficients]. unfold signextend3. rewrite !mul_uint, !uint_add.
    rewrite add_small by lia. rewrite IH by lia.
    assert (B : byte 0 (load next) = load next / 2 ^ 248).
    { unfold byte. change (255) with (2 ^ 8 - 1). change (248 - 8 * 0) with 248. rewrite field by lia.
      apply Z.mod_small. apply (top_field next 248). lia. }
    rewrite B, shr_div by (lia || apply load_word). cbn [seq]. rewrite <- seq_shift. cbn [map]. rewrite (map_map S).
    assert (E : map (fun k => let w := load (next + 5 + 5 * Z.of_nat k) in (w / 2 ^ 248, signed32 (w / 2 ^ 216))) (seq 0 n)
      = map (fun k => let w := load (next + 5 * Z.of_nat (S k)) in (w / 2 ^ 248, signed32 (w / 2 ^ 216))) (seq 0 n)).
    { apply map_ext. intros k. rewrite Nat2Z.inj_succ. replace (next + 5 * Z.succ (Z.of_nat k)) with (next + 5 + 5 * Z.of_nat k) by lia.
      reflexivity. }
    cbv zeta in *. rewrite <- E. cbn [map total fold_right]. change (5 * Z.of_nat 0) with 0. rewrite Z.add_0_r.
    unfold total, eq. f_equal; [|lia]. f_equal; f_equal; lia.
Qed.

Definition moveOf (a : axis) : Z := total (map (fun '(digit, factor) => factor * b2z (digit =? along)) (factors a)).

Lemma affine_moves : forall t a, affine (digitsAt t) a = affine digits a + t * moveOf a.
Proof.
  intros t a. unfold affine, moveOf. rewrite <- Z.add_assoc. f_equal. induction (factors a) as [|[d f] l IH]; cbn.
  - lia.
  - unfold total in IH. rewrite IH. unfold digitsAt. destruct (d =? along); cbn [b2z]; lia.
Qed.

Lemma total_bound : forall (l : list (Z * Z)) (g : Z -> Z) B, (forall d f, In (d, f) l -> Z.abs f <= 2 ^ 31) ->
  (forall k, 0 <= g k <= B) -> Z.abs (total (map (fun '(d, f) => f * g d) l)) <= Z.of_nat (length l) * (2 ^ 31 * B).
Proof.
  induction l as [|[d f] l IH]; intros g B Hf Hg; [reflexivity|].
  cbn [map total fold_right length]. rewrite Nat2Z.inj_succ.
  pose proof (IH g B (fun d f I => Hf d f (or_intror I)) Hg) as H. unfold total in H.
  pose proof (Hf d f (or_introl eq_refl)) as F. pose proof (Hg d) as G.
  assert (P : Z.abs (f * g d) <= 2 ^ 31 * B) by (rewrite Z.abs_mul; apply Z.mul_le_mono_nonneg; lia).
  rewrite Z.mul_succ_l. revert H P. generalize (2 ^ 31 * B). intros. lia.
Qed.

Lemma factors_are : forall p d f, In (d, f) (factors (axisAt p)) -> Z.abs f <= 2 ^ 31.
Proof.
  intros p d f I. cbn [factors axisAt] in I. apply in_map_iff in I. destruct I as (k & E & _).
  cbv zeta in E. apply (f_equal snd) in E. cbn [snd] in E. rewrite <- E.
  pose proof (signed32_range (load (p + 18 + 5 * Z.of_nat k) / 2 ^ 216)) as R. revert R.
  generalize (signed32 (load (p + 18 + 5 * Z.of_nat k) / 2 ^ 216)). intros. lia.
Qed.

Lemma factors_count : forall p, Z.of_nat (length (factors (axisAt p))) < 2 ^ 8.
Proof.
  intros p. cbn [factors axisAt]. rewrite map_length, seq_length. pose proof (field_range p 112 8 ltac:(lia)).
  rewrite Z2Nat.id; lia.
Qed.

Lemma affine_bound : forall p, Z.abs (affine digits (axisAt p)) <= 2 ^ 104.
Proof.
  intros p. unfold affine.
  pose proof (total_bound (factors (axisAt p)) digits (2 ^ 64) (factors_are p) ltac:(intros k; pose proof (digits_bound k); lia)).
  pose proof (factors_count p). pose proof (signed32_range (load p / 2 ^ 160)) as B. change (signed32 (load p / 2 ^ 160)) with (base (axisAt p)) in B.
  nia.
Qed.

Lemma move_bound : forall p, Z.abs (moveOf (axisAt p)) <= 2 ^ 39.
Proof.
  intros p. unfold moveOf.
  pose proof (total_bound (factors (axisAt p)) (fun k => b2z (k =? along)) 1 (factors_are p) ltac:(intros k; cbv beta; destruct (k =? along); cbn; lia)).
  pose proof (factors_count p). nia.
Qed.

Lemma coordinate_is : forall p, 0 <= p <= W - 2 ^ 12 ->
  coordinate p = (load p, affine digits (axisAt p), moveOf (axisAt p), axisEnd p).
Proof.
  intros p Hp. unfold coordinate. pose proof (field_range p 112 8 ltac:(lia)) as F.
  assert (B : byte 17 (load p) = load p / 2 ^ 112 mod 2 ^ 8).
  { unfold byte. change 255 with (2 ^ 8 - 1). change (248 - 8 * 17) with 112. apply field; lia. }
  rewrite B, add_small by (unfold W in *; lia). rewrite shr_div by (lia || apply load_word). unfold signextend3.
  change 0 with (uint 0) at 1. rewrite coefficients_are by (rewrite ?Z2Nat.id; unfold W in *; lia).
  rewrite Z2Nat.id by lia. pose proof (affine_bound p) as A. pose proof (move_bound p) as M.
  unfold affine, moveOf in *. cbn [factors axisAt base] in *. rewrite !int_uint, !int_small; [reflexivity| |].
  - rewrite Z.add_0_l. lia.
  - lia.
Qed.

Lemma inside_spec : forall c extent move, 0 <= c < extent -> extent < 2 ^ 32 -> move <> 0 -> Z.abs move <= 2 ^ 40 ->
  1 <= termsInside c extent move /\ forall t, 0 <= t < termsInside c extent move -> 0 <= c + t * move < extent.
Proof.
  intros c ex move Hc He Hm Hb. unfold termsInside. destruct (Z.ltb_spec 0 move) as [P|P].
  - rewrite (sub_small ex) by (unfold W; lia). rewrite sub_small by (unfold W; lia). rewrite uint_small by (unfold W; lia).
    pose proof (Z.div_mod (ex - 1 - c) move ltac:(lia)) as D. pose proof (Z.mod_pos_bound (ex - 1 - c) move ltac:(lia)).
    assert (0 <= (ex - 1 - c) / move) by (apply Z.div_pos; lia).
    assert ((ex - 1 - c) / move <= ex) by nia.
    rewrite add_small by (unfold W; lia). split; [lia|]. intros t Ht. nia.
  - rewrite int_small by lia. rewrite uint_small by (unfold W; lia).
    pose proof (Z.div_mod c (- move) ltac:(lia)) as D. pose proof (Z.mod_pos_bound c (- move) ltac:(lia)).
    assert (0 <= c / (- move)) by (apply Z.div_pos; lia).
    assert (c / (- move) <= ex) by nia.
    rewrite add_small by (unfold W; lia). split; [lia|]. intros t Ht. nia.
Qed.

Lemma outside_spec : forall c extent move, ~ 0 <= c < extent -> 0 <= extent < 2 ^ 32 -> Z.abs move <= 2 ^ 40 -> Z.abs c <= 2 ^ 110 ->
  1 <= termsOutside c extent move /\ forall t, 0 <= t < termsOutside c extent move -> ~ 0 <= c + t * move < extent.
Proof.
  intros c ex move Hc He Hm Hb. unfold termsOutside. destruct (Z.ltb_spec c 0) as [N|N].
  - destruct (Z.ltb_spec 0 move) as [P|P].
    + rewrite (int_small (move - 1)) by lia. rewrite (int_small (move - 1 - c)) by lia.
      rewrite Z.quot_div_nonneg by lia.
      pose proof (Z.div_mod (move - 1 - c) move ltac:(lia)) as D. pose proof (Z.mod_pos_bound (move - 1 - c) move ltac:(lia)).
      assert (1 <= (move - 1 - c) / move) by (apply Z.div_le_lower_bound; lia).
      assert ((move - 1 - c) / move <= move - 1 - c) by nia.
      rewrite int_small by lia. rewrite uint_small by (unfold W; lia). split; [lia|]. intros t Ht. nia.
    + split; [unfold W; lia|]. intros t Ht. nia.
  - destruct (Z.ltb_spec move 0) as [P|P].
    + rewrite (int_small (c - ex)) by lia. rewrite (int_small (- move)) by lia.
      rewrite Z.quot_div_nonneg by lia.
      pose proof (Z.div_mod (c - ex) (- move) ltac:(lia)) as D. pose proof (Z.mod_pos_bound (c - ex) (- move) ltac:(lia)).
      assert (0 <= (c - ex) / (- move)) by (apply Z.div_pos; lia).
      assert ((c - ex) / (- move) <= c - ex) by nia.
      rewrite int_small by lia. rewrite uint_small by (unfold W; lia). rewrite add_small by (unfold W; lia).
      split; [lia|]. intros t Ht. nia.
    + split; [unfold W; lia|]. intros t Ht. nia.
Qed.

(* The coordinate of an axis `t` terms on. *)
Notation coordinateAt t := (coordinateOf (digitsAt t) (valueAt t)).

Lemma quotient : forall c d, 0 < d -> (Z.rem c d =? 0) = (c mod d =? 0) /\ (c mod d = 0 -> Z.quot c d = c / d).
Proof.
  intros c d Hd. split.
  - destruct (Z.eqb_spec (Z.rem c d) 0) as [E|E], (Z.eqb_spec (c mod d) 0) as [F|F]; try reflexivity; exfalso.
    + apply F. apply Z.rem_divide in E; [|lia]. apply Z.mod_divide; [lia|exact E].
    + apply E. apply Z.rem_divide; [lia|]. apply Z.mod_divide; [lia|exact F].
  - intros E. apply Z.mod_divide in E; [|lia]. destruct E as [k ->]. rewrite Z.quot_mul, Z.div_mul by lia. reflexivity.
Qed.

Lemma detour_is : forall p, let a := axisAt p in divisor a <> 0 ->
  let '(c, held, inside) := detour (load p) (affine digits a) (moveOf a) in
  1 <= held <= terms /\
  if inside then 0 <= c < extent a /\
    forall t, 0 <= t < held -> 0 <= c + t * moveOf a < extent a -> coordinateAt t a = Some (c + t * moveOf a)
  else forall t, 0 <= t < held -> coordinateAt t a = None.
Proof.
  intros p a Hd. unfold detour.
  pose proof (affine_bound p) as A. pose proof (move_bound p) as M. fold a in A, M.
  assert (E : shr 224 (load p) = extent a) by (apply shr_div; [lia|apply load_word]).
  assert (I : Z.land (shr 120 (load p)) 255 = index a) by (change 255 with (2 ^ 8 - 1); apply field; lia).
  assert (D : Z.land (shr 128 (load p)) LOW32 = divisor a) by (apply field; lia).
  rewrite E, I, D. pose proof (top_field p 224 ltac:(lia)) as Ex. change (load p / 2 ^ 224) with (extent a) in Ex.
  change (256 - 224) with 32 in Ex.
  assert (Dv : 0 < divisor a < 2 ^ 32).
  { pose proof (field_range p 128 32 ltac:(lia)) as F. change (load p / 2 ^ 128 mod 2 ^ 32) with (divisor a) in F. lia. }
  pose proof (indexes_hold (index a)) as H. unfold index_holds in H.
  destruct (views (index a)) as [[value step] stay]. destruct H as (Hv & Hl & Hval).
  rewrite (int_small (extent a)) by lia. rewrite (int_small (divisor a)) by lia.
  (* the coordinate with the index, and the terms for which it holds *)
  set (c := if index a =? 255 then _ else _).
  set (held := if index a =? 255 then terms else _).
  assert (C : Z.abs c <= 2 ^ 105 /\ 1 <= held /\
    forall t, 0 <= t < held -> affine (digitsAt t) a + indexed (valueAt t) a = c + t * moveOf a).
  { unfold c, held, indexed. destruct (Z.eqb_spec (index a) 255) as [N|N].
    - split; [lia|]. split; [lia|]. intros t Ht. rewrite affine_moves. lia.
    - rewrite (int_small (value + extent a)) by lia. rewrite int_small by (destruct (value <? 0); lia).
      split; [destruct (value <? 0); lia|]. split; [destruct (step =? 0); lia|].
      intros t Ht. rewrite Hval by exact Ht. rewrite affine_moves. destruct (value <? 0); lia. }
  clearbody c held. destruct C as (Cb & Ch & Ct). clear Hval Hl Hv E I D A.
  set (held' := if (divisor a =? 1) || (moveOf a =? 0) then held else 1).
  assert (H' : 1 <= held' <= held) by (unfold held'; destruct ((divisor a =? 1) || (moveOf a =? 0)); lia).
  destruct (quotient c (divisor a) (proj1 Dv)) as [R Q]. rewrite R. clear R.
  (* the same at each term that is held *)
  assert (T : forall t, 0 <= t < held' -> (c + t * moveOf a) mod divisor a = c mod divisor a /\
    (c + t * moveOf a) / divisor a = c / divisor a + t * moveOf a).
  { intros t Ht. unfold held' in *. destruct (Z.eqb_spec (divisor a) 1) as [->|N].
    - rewrite !Z.mod_1_r, !Z.div_1_r. lia.
    - cbn [orb] in *. destruct (Z.eqb_spec (moveOf a) 0) as [->|K]; [rewrite !Z.mul_0_r, !Z.add_0_r; lia|].
      replace t with 0 by lia. rewrite Z.mul_0_l, !Z.add_0_r. lia. }
  assert (At : forall t, 0 <= t < held' -> coordinateAt t a =
    if (c mod divisor a =? 0) && (0 <=? c / divisor a + t * moveOf a) && (c / divisor a + t * moveOf a <? extent a)
    then Some (c / divisor a + t * moveOf a) else None).
  { intros t Ht. unfold coordinateOf. rewrite Ct by lia. destruct (T t Ht) as [-> ->]. reflexivity. }
  clear Ct T. clearbody held'.
  destruct (Z.eqb_spec (c mod divisor a) 0) as [Z0|Z0]; cbn [negb].
  2: { assert (N : divisor a <> 1) by (intros K; rewrite K, Z.mod_1_r in Z0; lia).
       apply Z.eqb_neq in N. rewrite N. cbn [negb andb]. split; [lia|]. intros t Ht. apply At. lia. }
  rewrite andb_false_r.
  assert (Qb : Z.abs (c / divisor a) <= Z.abs c).
  { rewrite <- Q by exact Z0. pose proof (Z.quot_abs c (divisor a) ltac:(lia)) as K. rewrite <- K.
    apply Z.quot_le_upper_bound; nia. }
  assert (F : (if divisor a =? 1 then c else int (Z.quot c (divisor a))) = c / divisor a).
  { destruct (Z.eqb_spec (divisor a) 1) as [->|N]; [rewrite Z.div_1_r; reflexivity|].
    rewrite Q by exact Z0. apply int_small. lia. }
  rewrite F. clear F Q Z0. revert At Qb. generalize (c / divisor a). intros q At Qb.
  assert (U : (uint q <? uint (extent a)) = (0 <=? q) && (q <? extent a)).
  { rewrite (uint_small (extent a)) by (unfold W; lia). destruct (Z.leb_spec 0 q) as [P|P]; cbn [andb].
    - rewrite uint_small by (unfold W; lia). reflexivity.
    - apply Z.ltb_ge. unfold uint. replace (q mod W) with (q + W); [unfold W; lia|].
      apply Z.mod_unique with (-1); unfold W; lia. }
  rewrite U. destruct ((0 <=? q) && (q <? extent a)) eqn:B.
  - apply andb_prop in B. destruct B as [X Y]. apply Z.leb_le in X. apply Z.ltb_lt in Y. split; [lia|]. split; [lia|]. intros t Ht K. rewrite At by lia.
    destruct (Z.leb_spec 0 (q + t * moveOf a)); [|lia]. destruct (Z.ltb_spec (q + t * moveOf a) (extent a)); [|lia]. reflexivity.
  - assert (X' : ~ 0 <= q < extent a).
    { apply andb_false_iff in B. destruct B as [B|B]; [apply Z.leb_gt in B|apply Z.ltb_ge in B]; lia. }
    destruct (outside_spec q (extent a) (moveOf a) X') as [L O]; [lia|lia|lia|].
    split; [lia|]. intros t Ht. rewrite At by lia. pose proof (O t ltac:(lia)) as K. cbn [andb].
    destruct (Z.leb_spec 0 (q + t * moveOf a)); [|reflexivity].
    destruct (Z.ltb_spec (q + t * moveOf a) (extent a)); [lia|reflexivity].
Qed.

Lemma plain_is : forall p, plain (load p) (affine digits (axisAt p)) = true ->
  index (axisAt p) = 255 /\ divisor (axisAt p) = 1 /\ 0 <= affine digits (axisAt p) < extent (axisAt p).
Proof.
  intros p H. unfold plain in H. apply andb_prop in H. destruct H as [H L].
  rewrite (field p 120 40) in H by lia. apply Z.eqb_eq in H. rewrite shr_div in L by (lia || apply load_word).
  cbn [index divisor axisAt]. change (extent (axisAt p)) with (load p / 2 ^ 224).
  apply Z.ltb_lt in L. pose proof (affine_bound p) as A. pose proof (top_field p 224 ltac:(lia)) as Ex.
  change (256 - 224) with 32 in Ex.
  replace (load p / 2 ^ 128) with (load p / 2 ^ 120 / 2 ^ 8)
    by (rewrite Z.div_div by lia; rewrite <- Z.pow_add_r by lia; reflexivity).
  pose proof (Z.mod_pos_bound (load p / 2 ^ 120) (2 ^ 8) eq_refl).
  pose proof (Z.mod_pos_bound (load p / 2 ^ 120 / 2 ^ 8) (2 ^ 32) eq_refl).
  pose proof (Z.div_mod (load p / 2 ^ 120) (2 ^ 8) ltac:(lia)).
  pose proof (Z.div_mod (load p / 2 ^ 120 / 2 ^ 8) (2 ^ 32) ltac:(lia)).
  pose proof (Z.div_mod (load p / 2 ^ 120) (2 ^ 40) ltac:(lia)) as D. rewrite H in D.
  replace (load p / 2 ^ 120 / 2 ^ 40) with (load p / 2 ^ 120 / 2 ^ 8 / 2 ^ 32) in D
    by (rewrite (Z.div_div _ (2 ^ 8)) by lia; reflexivity).
  split; [lia|]. split; [lia|].
  destruct (Z.lt_ge_cases (affine digits (axisAt p)) 0) as [N|N].
  - exfalso. unfold uint in L. replace (affine digits (axisAt p) mod W) with (affine digits (axisAt p) + W) in L; [unfold W in L; lia|].
      apply Z.mod_unique with (-1); unfold W; lia.
  - rewrite uint_small in L by (unfold W; lia). lia.
Qed.

(* The axes of a body, checked: divisors are not zero. *)
Definition divides (axes : list axis) : Prop := Forall (fun a => divisor a <> 0) axes.

Lemma placeAxes_is : forall n p element slope stay, 0 <= p -> p + 2 ^ 12 * Z.of_nat n <= W -> divides (axesAt n p) ->
  0 <= element -> element + 2 ^ 64 * Z.of_nat n <= 2 ^ 80 -> Z.abs slope + 2 ^ 72 * Z.of_nat n <= 2 ^ 80 ->
  1 <= stay <= terms ->
  match placeAxes n p element slope stay with
  | OnFill l => 1 <= l <= terms /\ forall t, 0 <= t < l -> elementOf (digitsAt t) (valueAt t) (axesAt n p) = None
  | OnElement e s l => 1 <= l <= stay /\ element <= e /\ forall t, 0 <= t < l ->
      elementOf (digitsAt t) (valueAt t) (axesAt n p) = Some (e - element + t * (s - slope))
  end.
Proof.
  induction n as [|n IH]; intros p element slope stay Hp Hpn Hd He Hen Hs Hst.
  - cbn. split; [lia|]. split; [lia|]. intros t Ht. f_equal. lia.
  - rewrite Nat2Z.inj_succ in *. cbn [placeAxes axesAt]. rewrite coordinate_is by lia. inversion Hd as [|a l Da Dl]; subst a l.
    set (a := axisAt p) in *. pose proof (plain_is p) as P. fold a in P. pose proof (detour_is p Da) as D. fold a in D.
    pose proof (move_bound p) as M. fold a in M. set (m := moveOf a) in *.
    assert (C : let '(c, held, inside) := if plain (load p) (affine digits a) then (affine digits a, stay, true)
        else detour (load p) (affine digits a) m in
      1 <= held <= terms /\
      if inside then 0 <= c < extent a /\
        forall t, 0 <= t < held -> 0 <= c + t * m < extent a -> coordinateAt t a = Some (c + t * m)
      else forall t, 0 <= t < held -> coordinateAt t a = None).
    { destruct (plain (load p) (affine digits a)); [|exact D]. destruct (P eq_refl) as (X & Y & Z0).
      split; [lia|]. split; [lia|]. intros t Ht K. unfold coordinateOf, indexed. rewrite X, Y, affine_moves. fold m.
      rewrite Z.eqb_refl, Z.add_0_r, Z.mod_1_r, Z.div_1_r. cbn [Z.eqb andb].
      destruct (Z.leb_spec 0 (affine digits a + t * m)); [|lia].
      destruct (Z.ltb_spec (affine digits a + t * m) (extent a)); [reflexivity|lia]. }
    clear P D. destruct (if plain (load p) (affine digits a) then _ else _) as [[c held] inside].
    destruct C as [H1 C]. destruct inside; cbn [negb].
    2: { split; [lia|]. intros t Ht. cbn [elementOf]. rewrite C by lia. reflexivity. }
    destruct C as [Cc Ct].
    assert (S : Z.land (shr 192 (load p)) LOW32 = stride a) by (apply field; lia).
    assert (E : shr 224 (load p) = extent a) by (apply shr_div; [lia|apply load_word]).
    rewrite S, E. pose proof (field_range p 192 32 ltac:(lia)) as Sr. change (load p / 2 ^ 192 mod 2 ^ 32) with (stride a) in Sr.
    pose proof (top_field p 224 ltac:(lia)) as Ex. change (load p / 2 ^ 224) with (extent a) in Ex. change (256 - 224) with 32 in Ex.
    assert (Cs : 0 <= c * stride a <= 2 ^ 64) by nia. assert (Ms : Z.abs (m * stride a) <= 2 ^ 71) by nia.
    rewrite (int_small (stride a)) by lia. rewrite (int_small (c * stride a)) by lia. rewrite uint_small by (unfold W; lia).
    rewrite add_small by (unfold W; lia). rewrite (int_small (m * stride a)) by lia. rewrite int_small by lia.
    pose proof (field_range p 112 8 ltac:(lia)) as F. assert (N : axisEnd p = p + 18 + 5 * (load p / 2 ^ 112 mod 2 ^ 8)) by reflexivity.
    assert (Q : forall t e, 0 <= t < Z.min stay held -> 0 <= c + t * m < extent a ->
      elementOf (digitsAt t) (valueAt t) (axesAt n (axisEnd p)) = Some e ->
      elementOf (digitsAt t) (valueAt t) (a :: axesAt n (axisEnd p)) = Some ((c + t * m) * stride a + e)).
    { intros t e Ht K L. cbn [elementOf]. rewrite Ct, L by lia. reflexivity. }
    assert (Q' : forall t, elementOf (digitsAt t) (valueAt t) (axesAt n (axisEnd p)) = None ->
      elementOf (digitsAt t) (valueAt t) (a :: axesAt n (axisEnd p)) = None).
    { intros t K. cbn [elementOf]. rewrite K. destruct (coordinateAt t a); reflexivity. }
    destruct (Z.eqb_spec m 0) as [M0|M0].
    + pose proof (IH (axisEnd p) (element + c * stride a) slope (Z.min stay held) ltac:(lia) ltac:(lia) Dl ltac:(lia) ltac:(lia) ltac:(lia) ltac:(lia)) as R.
      destruct (placeAxes n _ _ _ _) as [l|e s l].
      * split; [lia|]. intros t Ht. apply Q'. apply R. lia.
      * destruct R as (R1 & R2 & R3). split; [lia|]. split; [lia|]. intros t Ht.
        erewrite Q; [|lia| |apply R3; lia]; [f_equal; rewrite M0; lia|rewrite M0; lia].
    + rewrite (uint_small c) by (unfold W; lia).
      destruct (inside_spec c (extent a) m Cc ltac:(lia) M0 ltac:(lia)) as [I1 I2].
      pose proof (IH (axisEnd p) (element + c * stride a) (slope + m * stride a) (Z.min (Z.min stay held) (termsInside c (extent a) m))
        ltac:(lia) ltac:(lia) Dl ltac:(lia) ltac:(lia) ltac:(lia) ltac:(lia)) as R.
      destruct (placeAxes n _ _ _ _) as [l|e s l].
      * split; [lia|]. intros t Ht. apply Q'. apply R. lia.
      * destruct R as (R1 & R2 & R3). split; [lia|]. split; [lia|]. intros t Ht.
        erewrite Q; [|lia|apply I2; lia|apply R3; lia]. f_equal. lia.
Qed.

(* A placement: the specified element, or the fill value, at each term for which the placement holds. *)
Theorem place_correct : forall n p, (n <= 8)%nat -> 0 <= p <= 2 ^ 64 -> divides (axesAt n p) ->
  match place n p with
  | OnFill stay => 1 <= stay <= terms /\
      forall t, 0 <= t < stay -> elementOf (digitsAt t) (valueAt t) (axesAt n p) = None
  | OnElement element slope stay => 1 <= stay <= terms /\
      forall t, 0 <= t < stay -> elementOf (digitsAt t) (valueAt t) (axesAt n p) = Some (element + t * slope)
  end.
Proof.
  intros n p Hn Hp Hd. pose proof (placeAxes_is n p 0 0 terms ltac:(lia) ltac:(unfold W; lia) Hd ltac:(lia) ltac:(lia) ltac:(lia) ltac:(lia)) as R.
  unfold place. destruct (placeAxes n p 0 0 terms) as [l|e s l]; [exact R|].
  destruct R as (R1 & R2 & R3). split; [exact R1|]. intros t Ht. rewrite R3 by exact Ht. f_equal. lia.
Qed.

End Views.

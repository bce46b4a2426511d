(* SPDX-License-Identifier: MIT *)
(* Tensors.seek and the end of Tensors.open, Views._placeOnElement and advanceAll: the address of an element among the
   opened chunks. *)
Require Import ZArith Lia Bool List.
Require Import Evm Signed.
Open Scope Z_scope.

Section Segments.

(* Tensor: log2 of an element's bytes, the address of the first opened chunk, the number of opened chunks, and the
   number of each of these by its place. *)
Variables log2Bytes data chunks : Z.
Variable index : Z -> Z.

(* The current segment: its first byte of the tensor, its length, its address. *)
Record segment := { start : Z; bytes : Z; address : Z }.

(* The end of Tensors.open *)
Definition opened : segment :=
  if chunks =? 0 then {| start := 0; bytes := 0; address := 0 |}
  else if sub (index (sub chunks 1)) (index 0) =? sub chunks 1
  then {| start := mul (index 0) 512; bytes := mul 512 chunks; address := data |}
  else {| start := 0; bytes := 0; address := data |}.

(* Tensors.seek: None reverts. A search in `high - low` places ends in as many steps as the number has bits. *)
Fixpoint search (steps : nat) (chunk low high : Z) : Z :=
  match steps with
  | O => low
  | S steps =>
    if low <? high then
      let middle := add low high / 2 in
      if index middle <? chunk then search steps chunk (add middle 1) high else search steps chunk low middle
    else low
  end.
Definition seek (s : segment) (offset : Z) : option segment :=
  if sub offset (start s) <? bytes s then Some s
  else
    let chunk := offset / 512 in
    let found low := {| start := mul chunk 512; bytes := 512; address := add data (mul low 512) |} in
    let next := add (sub (address s) data / 512) 1 in
    if (next <? chunks) && (index next =? chunk) then Some (found next)
    else
      let low := search 256 chunk 0 chunks in
      if (low <? chunks) && (index low =? chunk) then Some (found low) else None.

(* Views._placeOnElement: the pointer, the step, the terms that hold, and the segment. *)
Definition placeOnElement (s : segment) (element slope left : Z) : option (Z * Z * Z * segment) :=
  let offset := shl log2Bytes element in
  match seek s offset with
  | None => None
  | Some s =>
    let within := sub offset (start s) in
    let step := int (slope * 2 ^ log2Bytes) in
    let room := if 0 <? step then sub (sub (bytes s) 1) within / uint step else within / uint (int (- step)) in
    let left := if step =? 0 then left else if room <? left then add room 1 else left in
    Some (add (address s) within, uint step, left, s)
  end.
(* Views.advanceAll and loadAll: the pointer some terms on. *)
Definition pointerAfter (pointer step terms : Z) : Z := add pointer (mul step terms).

(* What is specified: the address of a byte of the tensor is that of a byte of an opened chunk, of the right number. *)
Definition address_of (byte at_ : Z) : Prop :=
  exists k, 0 <= k < chunks /\ index k = byte / 512 /\ at_ = data + 512 * k + byte mod 512.
(* Every byte of a segment has its address, which lies among the chunks. *)
Definition segment_is_right (s : segment) : Prop :=
  0 <= start s < 2 ^ 200 /\ 0 <= bytes s <= 512 * chunks /\ (data <= address s <= data + 512 * chunks \/ chunks = 0) /\
  forall b, start s <= b < start s + bytes s -> address_of b (address s + (b - start s)).

Hypothesis data_bound : 0 <= data < 2 ^ 64.
Hypothesis chunks_bound : 0 <= chunks < 2 ^ 64.
(* As PositionalMerkle.multiproofRoot requires, below the tensor's width. *)
Hypothesis index_bound : forall k, 0 <= index k < 2 ^ 190.
Hypothesis index_rises : forall j k, 0 <= j < k -> k < chunks -> index j < index k.
Hypothesis log2_bound : 0 <= log2Bytes <= 5.

Lemma index_far : forall k, 0 <= k < chunks -> index 0 + k <= index k.
Proof.
  intros k H. replace k with (Z.of_nat (Z.to_nat k)) in * by (apply Z2Nat.id; lia). revert H.
  generalize (Z.to_nat k). intros n. induction n as [|n IH]; intros H; [cbn; lia|].
  rewrite Nat2Z.inj_succ in *. pose proof (IH ltac:(lia)). pose proof (index_rises (Z.of_nat n) (Z.succ (Z.of_nat n)) ltac:(lia) ltac:(lia)). lia.
Qed.

Lemma index_near : forall k, 0 <= k < chunks -> index k + (chunks - 1 - k) <= index (chunks - 1).
Proof.
  intros k H. set (n := Z.to_nat (chunks - 1 - k)). assert (E : k = chunks - 1 - Z.of_nat n) by lia.
  rewrite E. replace (chunks - 1 - (chunks - 1 - Z.of_nat n)) with (Z.of_nat n) by lia.
  assert (B : 0 <= chunks - 1 - Z.of_nat n) by lia. clearbody n. clear E H k. induction n as [|n IH].
  - cbn. rewrite Z.sub_0_r. lia.
  - rewrite Nat2Z.inj_succ in *. pose proof (IH ltac:(lia)).
    pose proof (index_rises (chunks - 1 - Z.succ (Z.of_nat n)) (chunks - 1 - Z.of_nat n) ltac:(lia) ltac:(lia)). lia.
Qed.

Theorem opened_correct : segment_is_right opened.
Proof.
  unfold opened, segment_is_right. pose proof (index_bound 0) as B0. pose proof (index_bound (chunks - 1)) as B1.
  destruct (Z.eqb_spec chunks 0) as [E|E]; cbn [start bytes address].
  - repeat split; lia || (intros; lia) || (right; exact E).
  - rewrite (sub_small chunks) by (unfold W; lia). pose proof (index_far (chunks - 1) ltac:(lia)) as F.
    rewrite sub_small by (unfold W; lia). destruct (Z.eqb_spec (index (chunks - 1) - index 0) (chunks - 1)) as [C|C]; cbn [start bytes address].
    + rewrite !mul_small by (unfold W; lia). split; [lia|]. split; [lia|]. split; [left; lia|]. intros b Hb.
      exists (b / 512 - index 0).
      pose proof (Z.div_mod b 512 ltac:(lia)) as D. pose proof (Z.mod_pos_bound b 512 eq_refl) as M.
      assert (K : 0 <= b / 512 - index 0 < chunks) by lia.
      pose proof (index_far _ K). pose proof (index_near _ K). split; [exact K|]. split; lia.
    + split; [lia|]. split; [lia|]. split; [left; lia|]. intros; lia.
Qed.

(* The first place from where on numbers are not below the chunk. *)
Lemma search_is : forall steps chunk low high, 0 <= low <= high -> high <= chunks -> high - low < 2 ^ Z.of_nat steps ->
  (forall k, 0 <= k < low -> index k < chunk) -> (forall k, high <= k < chunks -> chunk <= index k) ->
  let r := search steps chunk low high in
  0 <= r <= chunks /\ (forall k, 0 <= k < r -> index k < chunk) /\ (forall k, r <= k < chunks -> chunk <= index k).
Proof.
  induction steps as [|n IH]; intros chunk low high Hl Hh Hs Lo Hi; cbn [search].
  - change (2 ^ Z.of_nat 0) with 1 in Hs. split; [lia|]. split; [exact Lo|]. intros k K. apply Hi. lia.
  - rewrite Nat2Z.inj_succ, Z.pow_succ_r in Hs by lia.
    destruct (Z.ltb_spec low high) as [L|L]; [|split; [lia|]; split; [exact Lo|]; intros k K; apply Hi; lia].
    rewrite (add_small low) by (unfold W; lia). pose proof (Z.div_mod (low + high) 2 ltac:(lia)) as D.
    pose proof (Z.mod_pos_bound (low + high) 2 eq_refl) as M. set (m := (low + high) / 2) in *.
    destruct (Z.ltb_spec (index m) chunk) as [I|I].
    + rewrite add_small by (unfold W; lia). apply IH; [lia|lia|lia| |exact Hi].
      intros k K. destruct (Z.eq_dec k m) as [->|N]; [exact I|]. pose proof (index_rises k m ltac:(lia) ltac:(lia)). lia.
    + apply IH; [lia|lia|lia|exact Lo|]. intros k K. destruct (Z.eq_dec k m) as [->|N]; [exact I|].
      pose proof (index_rises m k ltac:(lia) ltac:(lia)). lia.
Qed.

(* A found segment is right and holds the byte; none is found only where the byte's chunk is not opened. *)
Theorem seek_correct : forall s offset, segment_is_right s -> 0 <= offset < 2 ^ 200 ->
  match seek s offset with
  | Some t => segment_is_right t /\ start t <= offset < start t + bytes t
  | None => forall k, 0 <= k < chunks -> index k <> offset / 512
  end.
Proof.
  intros s offset Hs Ho. pose proof Hs as (S0 & S1 & S2 & S3). unfold seek.
  assert (Sub : sub offset (start s) < bytes s -> start s <= offset < start s + bytes s).
  { intros H. destruct (Z.lt_ge_cases offset (start s)) as [N|N].
    - exfalso. unfold sub in H. replace ((offset - start s) mod W) with (offset - start s + W) in H; [unfold W in H; lia|].
      apply Z.mod_unique with (-1); unfold W; lia.
    - rewrite sub_small in H by (unfold W; lia). lia. }
  destruct (Z.ltb_spec (sub offset (start s)) (bytes s)) as [L|L]; [split; [exact Hs|apply Sub; exact L]|].
  pose proof (Z.div_mod offset 512 ltac:(lia)) as D. pose proof (Z.mod_pos_bound offset 512 eq_refl) as M.
  set (chunk := offset / 512) in *.
  assert (Found : forall low, 0 <= low -> (low <? chunks) && (index low =? chunk) = true ->
    let t := {| start := mul chunk 512; bytes := 512; address := add data (mul low 512) |} in
    segment_is_right t /\ start t <= offset < start t + bytes t).
  { intros low H0 H. apply andb_prop in H. destruct H as [H I]. apply Z.ltb_lt in H. apply Z.eqb_eq in I. cbv zeta.
    unfold segment_is_right. cbn [start bytes address]. rewrite !mul_small by (unfold W; lia).
    rewrite add_small by (unfold W; lia). split; [|lia]. split; [lia|]. split; [lia|]. split; [left; lia|].
    intros b Hb. exists low. assert (b / 512 = chunk) by (symmetry; apply Z.div_unique with (b - chunk * 512); lia).
    split; [lia|]. split; [lia|]. pose proof (Z.div_mod b 512 ltac:(lia)). lia. }
  set (next := add _ 1).
  assert (N : 0 <= next) by (apply Z.mod_pos_bound; reflexivity).
  destruct ((next <? chunks) && (index next =? chunk)) eqn:X; [apply (Found next N X)|].
  pose proof (search_is 256 chunk 0 chunks ltac:(lia) ltac:(lia)) as R. cbv zeta in R.
  destruct R as (R0 & R1 & R2); [apply Z.lt_trans with (2 ^ 64); [lia|reflexivity]|intros; lia|intros; lia|].
  set (low := search 256 chunk 0 chunks) in *.
  destruct ((low <? chunks) && (index low =? chunk)) eqn:Y; [apply (Found low (proj1 R0) Y)|].
  intros k K E. destruct (Z.lt_trichotomy k low) as [T|[T|T]].
  - pose proof (R1 k ltac:(lia)). lia.
  - subst k. rewrite E, Z.eqb_refl in Y. replace (low <? chunks) with true in Y by (symmetry; apply Z.ltb_lt; lia). discriminate.
  - pose proof (R2 low ltac:(lia)). pose proof (index_rises low k ltac:(lia) ltac:(lia)). lia.
Qed.

(* The pointer, some terms on, is the address of the element that a term reads: of its lowest byte in the tensor, which
   has all of the element's bytes behind it in the same chunk. Nothing is placed only where the chunk is not opened. *)
Theorem placeOnElement_correct : forall s element slope left, segment_is_right s ->
  0 <= element < 2 ^ 190 -> Z.abs slope < 2 ^ 190 -> 1 <= left <= 2 ^ 64 ->
  match placeOnElement s element slope left with
  | Some (pointer, step, held, t) => segment_is_right t /\ 1 <= held <= left /\
      forall k, 0 <= k < held -> let b := (element + k * slope) * 2 ^ log2Bytes in
        address_of b (pointerAfter pointer step k) /\ b mod 512 + 2 ^ log2Bytes <= 512
  | None => forall k, 0 <= k < chunks -> index k <> element * 2 ^ log2Bytes / 512
  end.
Proof.
  intros s element slope left Hs He Hsl Hl. unfold placeOnElement.
  assert (P : 1 <= 2 ^ log2Bytes <= 32).
  { change 1 with (2 ^ 0) at 1. change 32 with (2 ^ 5). split; apply Z.pow_le_mono_r; lia. }
  assert (C : 512 = 2 ^ log2Bytes * 2 ^ (9 - log2Bytes)) by (rewrite <- Z.pow_add_r by lia; replace (log2Bytes + (9 - log2Bytes)) with 9 by lia; reflexivity).
  set (size := 2 ^ log2Bytes) in *. rewrite shl_small by (fold size; unfold W; lia). fold size.
  set (offset := element * size) in *. pose proof (seek_correct s offset Hs ltac:(lia)) as K.
  destruct (seek s offset) as [t|]; [|exact K]. destruct K as [Ht Hin]. pose proof Ht as (S0 & S1 & S2 & S3).
  rewrite (sub_small offset) by (unfold W; lia). set (within := offset - start t) in *.
  assert (Hw : 0 <= within < bytes t) by lia.
  assert (Hch : chunks <> 0) by (intros E; rewrite E in S1; lia).
  assert (Ad : data <= address t <= data + 512 * chunks) by lia.
  rewrite int_small by nia. set (step := slope * size) in *. assert (Hst : Z.abs step < 2 ^ 200) by nia.
  set (room := if 0 <? step then _ else _).
  set (held := if step =? 0 then left else _).
  assert (R : 1 <= held <= left /\ forall k, 0 <= k < held -> 0 <= within + k * step < bytes t).
  { unfold held, room. destruct (Z.eqb_spec step 0) as [->|Z0]; [split; [lia|]; intros; lia|].
    assert (Q : exists q, 0 <= q < 2 ^ 90 /\ (if 0 <? step then sub (sub (bytes t) 1) within / uint step else within / uint (int (- step))) = q
      /\ forall k, 0 <= k <= q -> 0 <= within + k * step < bytes t).
    { destruct (Z.ltb_spec 0 step) as [Po|Ne].
      - rewrite (sub_small (bytes t)) by (unfold W; lia). rewrite sub_small by (unfold W; lia). rewrite uint_small by (unfold W; lia).
        exists ((bytes t - 1 - within) / step). pose proof (Z.div_mod (bytes t - 1 - within) step ltac:(lia)).
        pose proof (Z.mod_pos_bound (bytes t - 1 - within) step ltac:(lia)).
        assert (0 <= (bytes t - 1 - within) / step) by (apply Z.div_pos; lia).
        split; [nia|]. split; [reflexivity|]. intros k Hk. nia.
      - rewrite int_small by lia. rewrite uint_small by (unfold W; lia).
        exists (within / (- step)). pose proof (Z.div_mod within (- step) ltac:(lia)).
        pose proof (Z.mod_pos_bound within (- step) ltac:(lia)).
        assert (0 <= within / (- step)) by (apply Z.div_pos; lia).
        split; [nia|]. split; [reflexivity|]. intros k Hk. nia. }
    destruct Q as (q & Q0 & -> & Q1). destruct (Z.ltb_spec q left).
    - rewrite add_small by (unfold W; lia). split; [lia|]. intros k Hk. apply Q1. lia.
    - split; [lia|]. intros k Hk. apply Q1. lia. }
  clearbody held. split; [exact Ht|]. destruct R as [R0 R1]. split; [exact R0|]. intros k Hk. cbv zeta.
  specialize (R1 k Hk). assert (B : (element + k * slope) * size = offset + k * step) by (unfold offset, step; ring).
  split.
  - rewrite B. unfold pointerAfter. rewrite (add_small (address t)) by (unfold W; lia).
    assert (E : add (address t + within) (mul (uint step) k) = address t + (within + k * step)).
    { unfold add, mul, uint. rewrite Z.mul_mod_idemp_l by discriminate. rewrite Z.add_mod_idemp_r by discriminate.
      replace (address t + within + step * k) with (address t + (within + k * step)) by ring. apply Z.mod_small. unfold W; lia. }
    rewrite E. replace (within + k * step) with (offset + k * step - start t) by (unfold within; ring). apply S3. lia.
  - rewrite B. rewrite <- B. set (x := element + k * slope). rewrite C, (Z.mul_comm x), Z.mul_mod_distr_l by lia.
    pose proof (Z.mod_pos_bound x (2 ^ (9 - log2Bytes)) ltac:(apply pow_pos; lia)). nia.
Qed.

End Segments.

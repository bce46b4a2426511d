(* SPDX-License-Identifier: MIT *)
(* ViewDecoder.sol: which lists of views are accepted, and that an accepted view reads inside its input. *)
Require Import ZArith Lia Bool List.
Require Import Evm Signed Views.
Import ListNotations.
Open Scope Z_scope.

Section Reads.

(* A word of the calldata by position. *)
Variable load : Z -> Z.
(* The number of inputs; of each input by number, its elements, and whether these are integers. *)
Variable inputs : Z.
Variable elements : Z -> Z.
Variable isInteger : Z -> bool.
(* The number of digits that a view may use. *)
Variable digitCount : Z.

(* View: its input, its number of axes, and where these begin. *)
Record view := { input : Z; axisCount : Z; axes : Z }.
Definition byteAt (position : Z) : Z := shr 248 (load position).

(* ViewDecoder._checkCoefficients, _axes and read: None reverts. A fill value is not modelled. *)
Fixpoint checkCoefficients (n : nat) (position next : Z) : option Z :=
  match n with
  | O => Some position
  | S n =>
    let digit := byteAt position in
    if (next <=? digit) && (digit <? digitCount) then checkCoefficients n (add position 5) (add digit 1) else None
  end.
Fixpoint decodeAxes (n : nat) (views : list view) (position last indirect : Z) : option (Z * Z * Z) :=
  match n with
  | O => Some (position, last, indirect)
  | S n =>
    let head := load position in
    let extent := shr 224 head in
    if negb (extent =? 0) && negb (Z.land (shr 128 head) LOW32 =? 0) then
      let last := add last (mul (sub extent 1) (Z.land (shr 192 head) LOW32)) in
      let index := Z.land (shr 120 head) 255 in
      let number := Z.of_nat (length views) in
      let isGood :=
        (index <? number) && (Z.land (shr index indirect) 1 =? 0) &&
        match nth_error views (Z.to_nat index) with Some v => isInteger (input v) | None => false end in
      let indirect' := if index =? 255 then indirect else Z.lor indirect (shl number 1) in
      if (index =? 255) || isGood then
        match checkCoefficients (Z.to_nat (Z.land (shr 112 head) 255)) (add position 18) 0 with
        | Some position => decodeAxes n views position last indirect'
        | None => None
        end
      else None
    else None
  end.
Fixpoint readAll (n : nat) (views : list view) (indirect position : Z) : option (list view * Z) :=
  match n with
  | O => Some (views, position)
  | S n =>
    let v := {| input := byteAt position; axisCount := byteAt (add position 9); axes := add (add position 9) 1 |} in
    if (input v <? inputs) && (axisCount v <=? 8) then
      match decodeAxes (Z.to_nat (axisCount v)) views (axes v) 0 indirect with
      | Some (position, last, indirect) =>
        if last <? elements (input v) then readAll n (views ++ [v]) indirect position else None
      | None => None
      end
    else None
  end.
Definition read (position : Z) : option (list view * Z) :=
  let n := byteAt position in if n <=? 16 then readAll (Z.to_nat n) [] 0 (add position 1) else None.

(* What is specified: the views in a body, one behind the other, and when they are well formed. *)
Fixpoint axesEnd (n : nat) (p : Z) : Z := match n with O => p | S n => axesEnd n (axisEnd load p) end.
Definition viewAt (p : Z) : view :=
  {| input := load p / 2 ^ 248; axisCount := load (p + 9) / 2 ^ 248; axes := p + 10 |}.
Definition axesOf (v : view) : list axis := axesAt load (Z.to_nat (axisCount v)) (axes v).
Definition viewEnd (v : view) : Z := axesEnd (Z.to_nat (axisCount v)) (axes v).
Fixpoint viewsAt (n : nat) (p : Z) : list view * Z :=
  match n with
  | O => ([], p)
  | S n => let '(rest, after) := viewsAt n (viewEnd (viewAt p)) in (viewAt p :: rest, after)
  end.

(* Digits rise, each below the number of digits. *)
Fixpoint rises (next : Z) (numbers : list Z) : bool :=
  match numbers with
  | [] => true
  | digit :: rest => (next <=? digit) && (digit <? digitCount) && rises (digit + 1) rest
  end.
Definition isDirect (v : view) : bool := forallb (fun a => index a =? 255) (axesOf v).
Definition axisIsGood (earlier : list view) (a : axis) : bool :=
  negb (extent a =? 0) && negb (divisor a =? 0) && rises 0 (map fst (factors a)) &&
  ((index a =? 255) ||
    match nth_error earlier (Z.to_nat (index a)) with Some v => isInteger (input v) && isDirect v | None => false end).
Definition farthest (l : list axis) : Z := total (map (fun a => (extent a - 1) * stride a) l).
Definition viewIsGood (earlier : list view) (v : view) : bool :=
  (input v <? inputs) && (axisCount v <=? 8) && forallb (axisIsGood earlier) (axesOf v) &&
  (farthest (axesOf v) <? elements (input v)).
Fixpoint allGood (earlier views : list view) : bool :=
  match views with [] => true | v :: rest => viewIsGood earlier v && allGood (earlier ++ [v]) rest end.

Hypothesis load_word : forall p, 0 <= load p < W.

Lemma byteAt_is : forall p, byteAt p = load p / 2 ^ 248 /\ 0 <= load p / 2 ^ 248 < 2 ^ 8.
Proof. intros p. split; [apply shr_div; [lia|apply load_word]|apply (top_field load load_word p 248); lia]. Qed.

Lemma checkCoefficients_is : forall n p next, 0 <= p -> p + 5 * Z.of_nat n < W ->
  checkCoefficients n p next =
    if rises next (map (fun k => load (p + 5 * Z.of_nat k) / 2 ^ 248) (seq 0 n)) then Some (p + 5 * Z.of_nat n) else None.
Proof.
  induction n as [|n IH]; intros p next Hp H; [cbn; f_equal; lia|]. rewrite Nat2Z.inj_succ in *. cbn [checkCoefficients].
  destruct (byteAt_is p) as [-> B]. rewrite !add_small by (unfold W in *; lia). rewrite IH by lia.
  cbn [seq]. rewrite <- seq_shift. cbn [map]. rewrite (map_map S).
  assert (E : map (fun k => load (p + 5 + 5 * Z.of_nat k) / 2 ^ 248) (seq 0 n)
    = map (fun k => load (p + 5 * Z.of_nat (S k)) / 2 ^ 248) (seq 0 n)).
  { apply map_ext. intros k. rewrite Nat2Z.inj_succ. replace (p + 5 * Z.succ (Z.of_nat k)) with (p + 5 + 5 * Z.of_nat k) by lia.
    reflexivity. }
  rewrite <- E. cbn [rises]. change (5 * Z.of_nat 0) with 0. rewrite Z.add_0_r.
  destruct (_ && _); [|reflexivity]. cbn [andb].
  replace (p + 5 + 5 * Z.of_nat n) with (p + 5 * Z.succ (Z.of_nat n)) by lia. reflexivity.
Qed.

(* Which of the earlier views are direct, by bits. *)
Definition marks (indirect : Z) (views : list view) : Prop :=
  forall k v, nth_error views k = Some v -> Z.testbit indirect (Z.of_nat k) = negb (isDirect v).

Lemma bit : forall a k, 0 <= k < 256 -> (Z.land (shr k a) 1 =? 0) = negb (Z.testbit a k).
Proof.
  intros a k Hk. unfold shr. replace (k <? 256) with true by (symmetry; apply Z.ltb_lt; lia).
  change 1 with (2 ^ 1 - 1). rewrite land_ones_low by lia. change (2 ^ 1) with 2. rewrite <- Z.shiftr_div_pow2 by lia.
  rewrite Zmod_odd, <- Z.testbit_odd. destruct (Z.testbit a k); reflexivity.
Qed.

Lemma nth_below : forall (views : list view) k v, nth_error views k = Some v -> (k < length views)%nat.
Proof. intros. apply nth_error_Some. congruence. Qed.

Lemma decodeAxes_is : forall n views p last indirect, 0 <= p -> p + 2 ^ 12 * Z.of_nat n <= W ->
  (length views < 200)%nat -> marks indirect views -> 0 <= last -> last + 2 ^ 64 * Z.of_nat n < W ->
  decodeAxes n views p last indirect =
    if forallb (axisIsGood views) (axesAt load n p) then
      Some (axesEnd n p, last + farthest (axesAt load n p),
        if forallb (fun a => index a =? 255) (axesAt load n p) then indirect
        else Z.lor indirect (2 ^ Z.of_nat (length views)))
    else None.
Proof.
  induction n as [|n IH]; intros views p last indirect Hp Hpn Hv Hm Hl Hln.
  - cbn. rewrite Z.add_0_r. reflexivity.
  - rewrite Nat2Z.inj_succ in *. cbn [decodeAxes axesAt forallb axesEnd]. set (a := axisAt load p).
    assert (E : shr 224 (load p) = extent a) by (apply shr_div; [lia|apply load_word]).
    assert (I : Z.land (shr 120 (load p)) 255 = index a) by (change 255 with (2 ^ 8 - 1); apply field; [exact load_word|lia|lia]).
    assert (D : Z.land (shr 128 (load p)) LOW32 = divisor a) by (apply field; [exact load_word|lia|lia]).
    assert (S : Z.land (shr 192 (load p)) LOW32 = stride a) by (apply field; [exact load_word|lia|lia]).
    assert (C : Z.land (shr 112 (load p)) 255 = load p / 2 ^ 112 mod 2 ^ 8) by (change 255 with (2 ^ 8 - 1); apply field; [exact load_word|lia|lia]).
    rewrite E, I, D, S, C.
    pose proof (top_field load load_word p 224 ltac:(lia)) as Ex. change (load p / 2 ^ 224) with (extent a) in Ex. change (256 - 224) with 32 in Ex.
    pose proof (field_range load p 192 32 ltac:(lia)) as Sr. change (load p / 2 ^ 192 mod 2 ^ 32) with (stride a) in Sr.
    pose proof (field_range load p 120 8 ltac:(lia)) as Ir. change (load p / 2 ^ 120 mod 2 ^ 8) with (index a) in Ir.
    pose proof (field_range load p 112 8 ltac:(lia)) as Cr.
    unfold axisIsGood at 1. rewrite (add_small p) by (unfold W in *; lia).
    rewrite checkCoefficients_is by (rewrite ?Z2Nat.id; unfold W in *; lia). rewrite Z2Nat.id by lia.
    assert (F : map (fun k => load (p + 18 + 5 * Z.of_nat k) / 2 ^ 248) (seq 0 (Z.to_nat (load p / 2 ^ 112 mod 2 ^ 8)))
      = map fst (factors a)) by (cbn [factors a axisAt]; rewrite map_map; reflexivity).
    rewrite F. clear F. change (p + 18 + 5 * (load p / 2 ^ 112 mod 2 ^ 8)) with (axisEnd load p).
    assert (Ae : p < axisEnd load p <= p + 2 ^ 12) by (unfold axisEnd; lia).
    destruct (Z.eqb_spec (extent a) 0) as [X|X]; [reflexivity|]. cbn [negb andb].
    destruct (Z.eqb_spec (divisor a) 0) as [Y|Y]; [reflexivity|]. cbn [negb andb].
    assert (M : 0 <= (extent a - 1) * stride a <= 2 ^ 64) by nia.
    rewrite (sub_small (extent a)) by (unfold W; lia). rewrite mul_small by (unfold W; lia). rewrite add_small by lia.
    unfold shl. replace (Z.of_nat (length views) <? 256) with true by (symmetry; apply Z.ltb_lt; lia).
    assert (P : 2 ^ Z.of_nat (length views) < W) by (apply Z.pow_lt_mono_r; lia).
    pose proof (pow_pos (Z.of_nat (length views)) ltac:(lia)) as P0.
    rewrite Z.mul_1_l, (Z.mod_small (2 ^ _)) by lia.
    set (L := 2 ^ Z.of_nat (length views)) in *.
    assert (G : ((index a =? 255) || ((index a <? Z.of_nat (length views)) && (Z.land (shr (index a) indirect) 1 =? 0) &&
        match nth_error views (Z.to_nat (index a)) with Some v => isInteger (input v) | None => false end))
      = ((index a =? 255) || match nth_error views (Z.to_nat (index a)) with Some v => isInteger (input v) && isDirect v | None => false end)).
    { f_equal. rewrite bit by lia. destruct (nth_error views (Z.to_nat (index a))) as [v|] eqn:N; [|apply andb_false_r].
      pose proof (nth_below _ _ _ N) as B. rewrite <- (Z2Nat.id (index a)) at 1 2 by lia. rewrite (Hm _ _ N), negb_involutive.
      replace (Z.of_nat (Z.to_nat (index a)) <? Z.of_nat (length views)) with true by (symmetry; apply Z.ltb_lt; lia).
      cbn [andb]. apply andb_comm. }
    rewrite G. clear G. destruct ((index a =? 255) || _); [|rewrite andb_false_r; reflexivity]. rewrite andb_true_r.
    destruct (rises 0 (map fst (factors a))); [|reflexivity]. cbn [andb].
    rewrite IH; [|lia|lia|exact Hv| |lia|lia].
    + destruct (forallb (axisIsGood views) (axesAt load n (axisEnd load p))); [|reflexivity].
      unfold farthest. cbn [map total fold_right]. fold a.
      assert (K : forall s, last + (extent a - 1) * stride a + s = last + ((extent a - 1) * stride a + s)) by (intros; lia).
      unfold total. rewrite K. f_equal. f_equal. destruct (index a =? 255); cbn [andb]; [reflexivity|].
      destruct (forallb (fun b => index b =? 255) (axesAt load n (axisEnd load p))); [reflexivity|].
      rewrite <- Z.lor_assoc, Z.lor_diag. reflexivity.
    + intros k v N. rewrite <- (Hm k v N). pose proof (nth_below _ _ _ N). destruct (index a =? 255); [reflexivity|].
      rewrite Z.lor_spec. unfold L. rewrite Z.pow2_bits_false by lia. apply orb_false_r.
Qed.

Lemma axesEnd_range : forall n p, p <= axesEnd n p <= p + 2 ^ 12 * Z.of_nat n.
Proof.
  induction n as [|n IH]; intros p; cbn [axesEnd]; [lia|]. pose proof (IH (axisEnd load p)) as H. unfold axisEnd at 1 3 in H.
  pose proof (field_range load p 112 8 ltac:(lia)). rewrite Nat2Z.inj_succ. unfold axisEnd in H |- *. lia.
Qed.

Lemma axesAt_index : forall n p, farthest (axesAt load n p) <= 2 ^ 64 * Z.of_nat n.
Proof.
  induction n as [|n IH]; intros p; [reflexivity|]. cbn [axesAt]. unfold farthest in *. cbn [map total fold_right].
  pose proof (IH (axisEnd load p)) as H. unfold total in H. rewrite Nat2Z.inj_succ.
  pose proof (top_field load load_word p 224 ltac:(lia)) as Ex. change (load p / 2 ^ 224) with (extent (axisAt load p)) in Ex. change (256 - 224) with 32 in Ex.
  pose proof (field_range load p 192 32 ltac:(lia)) as Sr. change (load p / 2 ^ 192 mod 2 ^ 32) with (stride (axisAt load p)) in Sr.
  assert ((extent (axisAt load p) - 1) * stride (axisAt load p) <= 2 ^ 64) by nia. lia.
Qed.

Lemma readAll_is : forall n views indirect p, 0 <= p -> p + 2 ^ 16 * Z.of_nat n <= W ->
  (length views + n < 200)%nat -> marks indirect views -> (forall k, Z.of_nat (length views) <= k -> Z.testbit indirect k = false) ->
  readAll n views indirect p =
    let '(l, after) := viewsAt n p in if allGood views l then Some (views ++ l, after) else None.
Proof.
  induction n as [|n IH]; intros views indirect p Hp Hpn Hv Hm Hz.
  - cbn. rewrite app_nil_r. reflexivity.
  - rewrite Nat2Z.inj_succ in *. cbn [readAll viewsAt]. destruct (byteAt_is p) as [E0 B0]. destruct (byteAt_is (p + 9)) as [E1 B1].
    rewrite (add_small p 9) by (unfold W in *; lia). rewrite (add_small (p + 9) 1) by (unfold W in *; lia). rewrite E0, E1.
    replace (p + 9 + 1) with (p + 10) by lia. change {| input := _; axisCount := _; axes := _ |} with (viewAt p).
    destruct (viewsAt n (viewEnd (viewAt p))) as [l after] eqn:V. cbn [allGood]. unfold viewIsGood.
    destruct (input (viewAt p) <? inputs); [|reflexivity]. cbn [andb].
    destruct (Z.leb_spec (axisCount (viewAt p)) 8) as [A|A]; [|reflexivity]. cbn [andb].
    assert (A0 : 0 <= axisCount (viewAt p)) by (cbn [axisCount viewAt]; lia).
    rewrite decodeAxes_is; [|cbn [axes viewAt]; lia|cbn [axes viewAt]; rewrite Z2Nat.id by lia; lia|lia|exact Hm|lia|rewrite Z2Nat.id by lia; unfold W; lia].
    fold (axesOf (viewAt p)). destruct (forallb (axisIsGood views) (axesOf (viewAt p))); [|reflexivity]. rewrite Z.add_0_l. cbn [andb].
    destruct (farthest (axesOf (viewAt p)) <? elements (input (viewAt p))); [|reflexivity]. cbn [andb].
    fold (viewEnd (viewAt p)). pose proof (axesEnd_range (Z.to_nat (axisCount (viewAt p))) (axes (viewAt p))) as R.
    fold (viewEnd (viewAt p)) in R. rewrite Z2Nat.id in R by lia. cbn [axes viewAt] in R.
    rewrite IH; [|lia|lia|rewrite app_length; cbn [length]; lia| | ].
    + rewrite V. rewrite <- app_assoc. reflexivity.
    + intros k v N. assert (K : (k < length views \/ k = length views)%nat).
      { pose proof (nth_below _ _ _ N) as B. rewrite app_length in B. cbn [length] in B. lia. }
      fold (isDirect (viewAt p)). destruct K as [K|K].
      * rewrite nth_error_app1 in N by exact K. rewrite <- (Hm k v N). destruct (isDirect (viewAt p)); [reflexivity|].
        rewrite Z.lor_spec, Z.pow2_bits_false by lia. apply orb_false_r.
      * rewrite K, nth_error_app2, Nat.sub_diag in N by lia. cbn [nth_error] in N. injection N as <-. rewrite K.
        destruct (isDirect (viewAt p)); cbn [negb]; [apply Hz; lia|].
        rewrite Z.lor_spec, Z.pow2_bits_true by lia. apply orb_true_r.
    + intros k K. rewrite app_length in K. cbn [length] in K. destruct (forallb _ (axesOf (viewAt p))); [apply Hz; lia|].
      rewrite Z.lor_spec, Z.pow2_bits_false, Hz by lia. reflexivity.
Qed.

(* A list is accepted if and only if every view is well formed; its views are those of the body, one behind the other. *)
Theorem read_correct : forall p, 0 <= p <= 2 ^ 64 ->
  let n := load p / 2 ^ 248 in
  let '(views, after) := viewsAt (Z.to_nat n) (p + 1) in
  read p = if (n <=? 16) && allGood [] views then Some (views, after) else None.
Proof.
  intros p Hp n. destruct (byteAt_is p) as [E B]. fold n in E, B. unfold read. rewrite E.
  destruct (viewsAt (Z.to_nat n) (p + 1)) as [l after] eqn:V.
  destruct (Z.leb_spec n 16) as [N|N]; [|reflexivity]. cbn [andb]. rewrite add_small by (unfold W; lia).
  rewrite readAll_is; [rewrite V; reflexivity|lia|rewrite Z2Nat.id; unfold W; lia|cbn [length]; lia| |].
  - intros k v K. destruct k; discriminate.
  - intros k _. apply Z.bits_0.
Qed.

(* A well-formed view reads inside its input, whatever the digits and the values of its index reads. *)
Theorem view_inside : forall earlier v d values e, viewIsGood earlier v = true ->
  elementOf d values (axesOf v) = Some e -> 0 <= e < elements (input v).
Proof.
  intros earlier v d values e G H. unfold viewIsGood in G. apply andb_prop in G. destruct G as [G L].
  apply Z.ltb_lt in L. clear G.
  assert (K : forall n p e, elementOf d values (axesAt load n p) = Some e -> 0 <= e <= farthest (axesAt load n p)).
  { clear. induction n as [|n IH]; intros p e H; cbn [axesAt elementOf] in H.
    - injection H as <-. cbn. lia.
    - destruct (coordinateOf d values (axisAt load p)) as [c|] eqn:C; [|discriminate].
      destruct (elementOf d values (axesAt load n (axisEnd load p))) as [r|] eqn:R; [|discriminate].
      apply (f_equal (fun o => match o with Some x => x | None => 0 end)) in H. cbv beta iota in H. rewrite <- H.
      specialize (IH _ _ R). unfold coordinateOf in C. destruct (_ && _) eqn:B; [|discriminate].
      apply (f_equal (fun o => match o with Some x => x | None => 0 end)) in C. cbv beta iota in C. rewrite C in B. apply andb_prop in B. destruct B as [B B2]. apply andb_prop in B. destruct B as [_ B1].
      apply Z.leb_le in B1. apply Z.ltb_lt in B2. unfold farthest in *. cbn [axesAt map total fold_right].
      pose proof (field_range load p 192 32 ltac:(lia)) as S. change (load p / 2 ^ 192 mod 2 ^ 32) with (stride (axisAt load p)) in S.
      unfold total in IH. assert (0 <= c * stride (axisAt load p) <= (extent (axisAt load p) - 1) * stride (axisAt load p))
        by (split; [apply Z.mul_nonneg_nonneg|apply Z.mul_le_mono_nonneg_r]; lia). lia. }
  specialize (K _ _ _ H). fold (axesOf v) in K. lia.
Qed.

(* Each axis has a divisor, and each index read is an earlier view of integers without an index read of its own. *)
Theorem view_divides : forall earlier v, viewIsGood earlier v = true ->
  divides (axesOf v) /\ Forall (fun a => index a = 255 \/ exists w, In w earlier /\ isInteger (input w) = true /\
    nth_error earlier (Z.to_nat (index a)) = Some w /\ Forall (fun b => index b = 255) (axesOf w)) (axesOf v).
Proof.
  intros earlier v G. unfold viewIsGood in G. apply andb_prop in G. destruct G as [G _]. apply andb_prop in G.
  destruct G as [_ G]. rewrite forallb_forall in G. split; apply Forall_forall; intros a I; specialize (G a I);
    unfold axisIsGood in G; apply andb_prop in G; destruct G as [G X]; apply andb_prop in G; destruct G as [G _];
    apply andb_prop in G; destruct G as [_ D].
  - intros E. rewrite E in D. discriminate.
  - apply orb_prop in X. destruct X as [X|X]; [left; apply Z.eqb_eq; exact X|right].
    destruct (nth_error earlier (Z.to_nat (index a))) as [w|] eqn:N; [|discriminate]. apply andb_prop in X. destruct X as [X Y].
    exists w. split; [apply nth_error_In with (1 := N)|]. split; [exact X|]. split; [reflexivity|].
    apply Forall_forall. intros b J. unfold isDirect in Y. rewrite forallb_forall in Y. apply Z.eqb_eq. apply Y. exact J.
Qed.

End Reads.

(* Evm.v *)
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
Definition clz (a : Z) := if a =? 0 then 256 else 255 - Z.log2 a.
Definition int (z : Z) := (z + 2 ^ 255) mod W - 2 ^ 255.
Definition uint (z : Z) := z mod W.
Definition sar (s z : Z) := z / 2 ^ s.

(* Rounding.v *)
Require Import ZArith Reals Lia Lra Bool.
From Flocq Require Import Core.
Require Import Evm.
Open Scope Z_scope.
Definition roundBits (mantissa drop : Z) (sticky : bool) : Z := let word := shr drop mantissa in let rest := shl (sub 256 drop) mantissa in add word (gt rest (sub (shl 255 1) (Z.lor (Z.land word 1) (b2z sticky)))).
Definition up (m drop : Z) (sticky : bool) : bool := let r := 2 * (m mod 2 ^ drop) in (2 ^ drop <? r) || ((2 ^ drop =? r) && (Z.odd (m / 2 ^ drop) || sticky)).
Open Scope R_scope.
Theorem roundBits_correct : forall (m drop g : Z) (sticky : bool) (x : R), (0 <= m < W)%Z -> (0 < drop <= 256)%Z -> (0 <= g < drop)%Z -> (m mod 2 ^ g = 0)%Z -> (if sticky then IZR m < x < IZR (m + 2 ^ g) else x = IZR m) -> roundBits m drop sticky = ZnearestE (x / IZR (2 ^ drop)).

(* Format.v *)
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
Definition highest := emax - 1.
Definition lowest := 1 - highest - mw.
Definition SIGN := 2 ^ (mw + ew).
Definition INFINITY := SIGN - 2 ^ mw.
Definition NAN := INFINITY + 2 ^ (mw - 1).
Definition WIDTH := 2 ^ (mw + ew + 1).
Definition floatOf (w : Z) : float := binary_float_of_bits mw ew Hmw Hew Hmax w.
Definition isNaN (w : Z) : bool := is_nan prec emax (floatOf w).
Definition isFinite (w : Z) : bool := is_finite prec emax (floatOf w).
Definition realOf (w : Z) : R := B2R prec emax (floatOf w).
Definition isNegative (w : Z) : bool := Bsign prec emax (floatOf w).
Definition rounded (x : R) : R := round radix2 (SpecFloat.fexp prec emax) ZnearestE x.
Definition rounds_to (x : R) (w : Z) : Prop := 0 <= w < WIDTH /\ ((Rabs (rounded x) < bpow radix2 emax)%R -> isFinite w = true /\ realOf w = rounded x /\ w <> SIGN) /\ ((bpow radix2 emax <= Rabs (rounded x))%R -> w = if Rlt_bool x 0 then SIGN + INFINITY else INFINITY).
Definition signed (s : bool) (w : Z) := if s then w + SIGN else w.
Definition magnitude (w : Z) : R := if w / 2 ^ mw =? 0 then (IZR (w mod 2 ^ mw) * bpow radix2 lowest)%R else (IZR (w mod 2 ^ mw + 2 ^ mw) * bpow radix2 (w / 2 ^ mw + lowest - 1))%R.
Theorem rounds_to_unique : forall x w w', rounds_to x w -> rounds_to x w' -> w = w'.
Definition wordOf (f : float) : Z := match f with | B754_nan _ _ _ _ _ => NAN | B754_zero _ _ _ => 0 | _ => bits_of_binary_float mw ew f end.
Definition flocqRound (m e : Z) : Z := wordOf (binary_normalize prec emax (Zle_lt_succ 0 mw (Z.lt_le_incl 0 mw Hmw)) Hmax mode_NE m e false).
Theorem flocqRound_rounds : forall m e, rounds_to (IZR m * bpow radix2 e) (flocqRound m e).
End Format.

(* RoundTo.v *)
Require Import ZArith Reals Lia Lra Bool.
From Flocq Require Import Core BinarySingleNaN Binary Bits.
Require Import Evm Rounding Format.
Open Scope Z_scope.
Section RoundTo.
Variables mw ew : Z.
Hypothesis Hmw : 0 < mw.
Hypothesis Hew : 0 < ew.
Hypothesis Hmax : mw + 1 < 2 ^ (ew - 1).
Hypothesis Hmw' : mw <= 64.
Hypothesis Hew' : ew <= 16.
Notation prec := (mw + 1).
Notation emax := (2 ^ (ew - 1)).
Notation highest := (highest ew).
Notation lowest := (lowest mw ew).
Notation SIGN := (SIGN mw ew).
Notation INFINITY := (INFINITY mw ew).
Notation rounded := (rounded mw ew).
Notation rounds_to := (rounds_to mw ew Hmw Hew Hmax).
Notation magnitude := (magnitude mw ew).
Notation signed := (signed mw ew).
Definition withSign (negative : bool) (word : Z) := if negative then Z.lor word SIGN else word.
Definition roundTo (negative : bool) (mantissa exponent : Z) (sticky : bool) : Z := if mantissa =? 0 then 0 else let leading := clz mantissa in let top := int (int (exponent + 255) - leading) in let mantissa := shl leading mantissa in if highest <? top then withSign negative INFINITY else if - highest <? top then withSign negative (add (roundBits mantissa (sub 255 mw) sticky) (shl mw (uint (int (int (top + highest) - 1))))) else if top <? int (lowest - 1) then 0 else let word := roundBits mantissa (uint (int (255 - int (top - lowest)))) sticky in if word =? 0 then 0 else withSign negative word.
Open Scope R_scope.
Definition negated (s : bool) (x : R) := if s then - x else x.
Definition between (m g e : Z) (sticky : bool) (x : R) := if sticky then IZR m * bpow radix2 e < x < IZR (m + 2 ^ g) * bpow radix2 e else x = IZR m * bpow radix2 e.
Theorem roundTo_correct : forall (negative : bool) (m e : Z) (sticky : bool) (x : R), (0 <= m < W)%Z -> (- 2 ^ 254 <= e <= 2 ^ 254)%Z -> (if sticky then IZR m * bpow radix2 e < x < IZR (m + 1) * bpow radix2 e else x = IZR m * bpow radix2 e) -> (sticky = true -> 2 ^ (mw + 1) <= m \/ e <= lowest - 1)%Z -> rounds_to (if negative then - x else x) (roundTo negative m e sticky).
End RoundTo.
Definition roundTo_float16 := roundTo_correct 10 5 eq_refl eq_refl eq_refl ltac:(lia) ltac:(lia).
Definition roundTo_bfloat16 := roundTo_correct 7 8 eq_refl eq_refl eq_refl ltac:(lia) ltac:(lia).
Definition roundTo_float32 := roundTo_correct 23 8 eq_refl eq_refl eq_refl ltac:(lia) ltac:(lia).
Definition roundTo_float64 := roundTo_correct 52 11 eq_refl eq_refl eq_refl ltac:(lia) ltac:(lia).

(* Decode.v *)
Require Import ZArith Reals Lia Lra Bool.
From Flocq Require Import Core BinarySingleNaN Binary Bits.
Require Import Evm Rounding Format RoundTo.
Open Scope Z_scope.
Set Default Proof Using "All".
Section Decode.
Variables mw ew : Z.
Hypothesis Hmw : 0 < mw.
Hypothesis Hew : 0 < ew.
Hypothesis Hmax : mw + 1 < 2 ^ (ew - 1).
Hypothesis Hmw' : mw <= 53.
Hypothesis Hew' : ew <= 16.
Notation prec := (mw + 1).
Notation emax := (2 ^ (ew - 1)).
Notation highest := (highest ew).
Notation lowest := (lowest mw ew).
Notation SIGN := (SIGN mw ew).
Notation INFINITY := (INFINITY mw ew).
Notation NAN := (NAN mw ew).
Notation WIDTH := (WIDTH mw ew).
Notation rounded := (rounded mw ew).
Notation rounds_to := (rounds_to mw ew Hmw Hew Hmax).
Notation magnitude := (magnitude mw ew).
Notation signed := (signed mw ew).
Notation floatOf := (floatOf mw ew Hmw Hew Hmax).
Notation isNaN := (isNaN mw ew Hmw Hew Hmax).
Notation isFinite := (isFinite mw ew Hmw Hew Hmax).
Notation isNegative := (isNegative mw ew Hmw Hew Hmax).
Notation realOf := (realOf mw ew Hmw Hew Hmax).
Definition magnitudeBits (a : Z) := Z.land a (sub SIGN 1).
Definition isNaNWord (a : Z) := INFINITY <? magnitudeBits a.
Definition isInfiniteWord (a : Z) := magnitudeBits a =? INFINITY.
Definition isNegativeWord (a : Z) := negb (Z.land a SIGN =? 0).
Definition infinityOf (negative : bool) := if negative then Z.lor SIGN INFINITY else INFINITY.
Definition canonical (a : Z) := let magnitude := magnitudeBits a in if INFINITY <? magnitude then NAN else if magnitude =? 0 then 0 else Z.land a (sub (mul 2 SIGN) 1).
Definition decode (a : Z) : bool * Z * Z := let hidden := shl mw 1 in let field := shr mw (magnitudeBits a) in let mantissa := Z.land a (sub hidden 1) in if field =? 0 then (isNegativeWord a, mantissa, lowest) else (isNegativeWord a, Z.lor mantissa hidden, int (lowest + int (field - 1))).
Definition decodeSigned (a : Z) : Z * Z := let '(negative, mantissa, exponent) := decode a in ((if negative then int (- int mantissa) else int mantissa), exponent).
Definition order (a : Z) : Z := let magnitude := int (magnitudeBits a) in if isNegativeWord a then int (- magnitude) else magnitude.
Definition unitsOfBits (m : Z) := if m / 2 ^ mw =? 0 then m mod 2 ^ mw else (m mod 2 ^ mw + 2 ^ mw) * 2 ^ (m / 2 ^ mw - 1).
End Decode.

(* Arithmetic.v *)
Require Import ZArith Reals Lia Lra Bool.
From Flocq Require Import Core BinarySingleNaN Binary Bits.
Require Import Evm Rounding Format RoundTo Decode.
Open Scope Z_scope.
Set Default Proof Using "All".
Section Arithmetic.
Variables mw ew : Z.
Hypothesis Hmw : 0 < mw.
Hypothesis Hew : 0 < ew.
Hypothesis Hmax : mw + 1 < 2 ^ (ew - 1).
Hypothesis Hmw' : mw <= 53.
Hypothesis Hew' : ew <= 16.
Variable FAR : Z.
Hypothesis HFAR : mw + 4 <= FAR <= 192.
Variable SHIFT : Z.
Hypothesis HSHIFT : 2 * mw + 2 <= SHIFT <= 108.
Notation prec := (mw + 1).
Notation emax := (2 ^ (ew - 1)).
Notation highest := (highest ew).
Notation lowest := (lowest mw ew).
Notation SIGN := (SIGN mw ew).
Notation INFINITY := (INFINITY mw ew).
Notation NAN := (NAN mw ew).
Notation WIDTH := (WIDTH mw ew).
Notation rounded := (rounded mw ew).
Notation rounds_to := (rounds_to mw ew Hmw Hew Hmax).
Notation signed := (signed mw ew).
Notation floatOf := (floatOf mw ew Hmw Hew Hmax).
Notation isNaN := (isNaN mw ew Hmw Hew Hmax).
Notation isFinite := (isFinite mw ew Hmw Hew Hmax).
Notation isNegative := (isNegative mw ew Hmw Hew Hmax).
Notation realOf := (realOf mw ew Hmw Hew Hmax).
Notation wordOf := (wordOf mw ew).
Notation roundTo := (roundTo mw ew).
Notation magnitudeBits := (magnitudeBits mw ew).
Notation isNaNWord := (isNaNWord mw ew).
Notation isInfiniteWord := (isInfiniteWord mw ew).
Notation isNegativeWord := (isNegativeWord mw ew).
Notation infinityOf := (infinityOf mw ew).
Notation canonical := (canonical mw ew).
Notation decode := (decode mw ew).
Notation decodeSigned := (decodeSigned mw ew).
Notation order := (order mw ew).
Notation unitsOfBits := (unitsOfBits mw).
Notation with_type lemma := (lemma mw ew Hmw Hew Hmax Hmw' Hew').
Definition roundSigned (z e : Z) : Z := let negative := z <? 0 in roundTo negative (uint (if negative then int (- z) else z)) e false.
Definition shlInt (s z : Z) := int (z * 2 ^ s).
Definition addFinite (a b : Z) : Z := let '(x, xExponent) := decodeSigned a in let '(y, yExponent) := decodeSigned b in let gap := int (xExponent - yExponent) in if 0 <=? gap then if FAR <? gap then canonical a else roundSigned (int (shlInt gap x + y)) yExponent else if gap <? - FAR then canonical b else roundSigned (int (x + shlInt (int (- gap)) y)) xExponent.
Definition addWords (a b : Z) : Z := if isNaNWord a || isNaNWord b then NAN else if isInfiniteWord a then if isInfiniteWord b && isNegativeWord (Z.lxor a b) then NAN else canonical a else if isInfiniteWord b then canonical b else addFinite a b.
Definition subWords (a b : Z) : Z := addWords a (Z.lxor b SIGN).
Definition mulWords (a b : Z) : Z := let negative := isNegativeWord (Z.lxor a b) in if isNaNWord a || isNaNWord b then NAN else if isInfiniteWord a || isInfiniteWord b then if (magnitudeBits a =? 0) || (magnitudeBits b =? 0) then NAN else infinityOf negative else let '(_, x, xExponent) := decode a in let '(_, y, yExponent) := decode b in roundTo negative (mul x y) (int (xExponent + yExponent)) false.
Definition divWords (a b : Z) : Z := let negative := isNegativeWord (Z.lxor a b) in if isNaNWord a || isNaNWord b then NAN else if isInfiniteWord b then if isInfiniteWord a then NAN else 0 else if magnitudeBits b =? 0 then if magnitudeBits a =? 0 then NAN else infinityOf (isNegativeWord a) else if isInfiniteWord a then infinityOf negative else let '(_, x, xExponent) := decode a in let '(_, y, yExponent) := decode b in let x := shl SHIFT x in roundTo negative (x / y) (int (int (xExponent - SHIFT) - yExponent)) (negb (x mod y =? 0)).
Definition negWord (a : Z) : Z := canonical (Z.lxor a SIGN).
Definition absWord (a : Z) : Z := canonical (magnitudeBits a).
Definition minWords (a b : Z) : Z := if isNaNWord a || isNaNWord b then NAN else canonical (if order a <? order b then a else b).
Definition maxWords (a b : Z) : Z := if isNaNWord a || isNaNWord b then NAN else canonical (if order a <? order b then b else a).
Definition eqWords (a b : Z) : Z := b2z (negb (isNaNWord a) && negb (isNaNWord b) && (order a =? order b)).
Definition ltWords (a b : Z) : Z := b2z (negb (isNaNWord a) && negb (isNaNWord b) && (order a <? order b)).
Definition leWords (a b : Z) : Z := b2z (negb (isNaNWord a) && negb (isNaNWord b) && (order a <=? order b)).
Definition isWord (a : Z) := 0 <= a < WIDTH.
Definition isZero (a : Z) : bool := isFinite a && Req_bool (realOf a) 0.
Definition compared (a b : Z) : option comparison := Bcompare prec emax (floatOf a) (floatOf b).
Theorem add_correct : forall a b, isWord a -> isWord b -> if isNaN a || isNaN b then addWords a b = NAN else if isFinite a && isFinite b then rounds_to (realOf a + realOf b) (addWords a b) else if negb (isFinite a) && negb (isFinite b) && xorb (isNegative a) (isNegative b) then addWords a b = NAN else addWords a b = signed (if isFinite a then isNegative b else isNegative a) INFINITY.
Theorem sub_correct : forall a b, isWord a -> isWord b -> if isNaN a || isNaN b then subWords a b = NAN else if isFinite a && isFinite b then rounds_to (realOf a - realOf b) (subWords a b) else if negb (isFinite a) && negb (isFinite b) && eqb (isNegative a) (isNegative b) then subWords a b = NAN else subWords a b = signed (if isFinite a then negb (isNegative b) else isNegative a) INFINITY.
Theorem mul_correct : forall a b, isWord a -> isWord b -> if isNaN a || isNaN b then mulWords a b = NAN else if isFinite a && isFinite b then rounds_to (realOf a * realOf b) (mulWords a b) else if isZero a || isZero b then mulWords a b = NAN else mulWords a b = signed (xorb (isNegative a) (isNegative b)) INFINITY.
Theorem div_correct : forall a b, isWord a -> isWord b -> if isNaN a || isNaN b then divWords a b = NAN else if isFinite b then if isZero b then if isZero a then divWords a b = NAN else divWords a b = signed (isNegative a) INFINITY else if isFinite a then rounds_to (realOf a / realOf b) (divWords a b) else divWords a b = signed (xorb (isNegative a) (isNegative b)) INFINITY else if isFinite a then divWords a b = 0 else divWords a b = NAN.
Theorem lt_correct : forall a b, isWord a -> isWord b -> ltWords a b = match compared a b with Some Lt => 1 | _ => 0 end.
Theorem le_correct : forall a b, isWord a -> isWord b -> leWords a b = match compared a b with Some Lt | Some Eq => 1 | _ => 0 end.
Theorem eq_correct : forall a b, isWord a -> isWord b -> eqWords a b = match compared a b with Some Eq => 1 | _ => 0 end.
Theorem canonical_correct : forall a, isWord a -> canonical a = wordOf (floatOf a).
Theorem min_correct : forall a b, isWord a -> isWord b -> minWords a b = match compared a b with None => NAN | Some Lt => wordOf (floatOf a) | _ => wordOf (floatOf b) end.
Theorem max_correct : forall a b, isWord a -> isWord b -> maxWords a b = match compared a b with None => NAN | Some Lt => wordOf (floatOf b) | _ => wordOf (floatOf a) end.
Theorem neg_correct : forall a, isWord a -> if isNaN a then negWord a = NAN else if isFinite a then rounds_to (- realOf a) (negWord a) else negWord a = signed (negb (isNegative a)) INFINITY.
Theorem abs_correct : forall a, isWord a -> if isNaN a then absWord a = NAN else if isFinite a then rounds_to (Rabs (realOf a)) (absWord a) else absWord a = INFINITY.
End Arithmetic.

(* Types.v *)
Require Import ZArith Reals Lia.
Require Import Evm Format RoundTo Decode Arithmetic.
Open Scope Z_scope.
Notation of_type lemma mw ew := (lemma mw ew eq_refl eq_refl eq_refl ltac:(lia) ltac:(lia) 192 ltac:(lia) 108 ltac:(lia)).
Notation arithmetic mw ew := (of_type add_correct mw ew, of_type sub_correct mw ew, of_type mul_correct mw ew, of_type div_correct mw ew, of_type lt_correct mw ew, of_type le_correct mw ew, of_type eq_correct mw ew, of_type min_correct mw ew, of_type max_correct mw ew, of_type neg_correct mw ew, of_type abs_correct mw ew, of_type canonical_correct mw ew).
Definition arithmetic_float16 := arithmetic 10 5.
Definition arithmetic_bfloat16 := arithmetic 7 8.
Definition arithmetic_float32 := arithmetic 23 8.
Definition arithmetic_float64 := arithmetic 52 11.

(* Convert.v *)
Require Import ZArith Reals Lia Lra Bool.
From Flocq Require Import Core BinarySingleNaN Binary Bits.
Require Import Evm Rounding Format RoundTo Decode Arithmetic.
Open Scope Z_scope.
Section Convert.
Variables mw ew : Z.
Hypothesis Hmw : 0 < mw.
Hypothesis Hew : 0 < ew.
Hypothesis Hmax : mw + 1 < 2 ^ (ew - 1).
Hypothesis Hmw' : mw <= 53.
Hypothesis Hew' : ew <= 16.
Variables toMw toEw : Z.
Hypothesis HtoMw : 0 < toMw.
Hypothesis HtoEw : 0 < toEw.
Hypothesis HtoMax : toMw + 1 < 2 ^ (toEw - 1).
Hypothesis HtoMw' : toMw <= 53.
Hypothesis HtoEw' : toEw <= 16.
Definition convertWord (a : Z) : Z := if isNaNWord mw ew a then NAN toMw toEw else let '(negative, mantissa, exponent) := decode mw ew a in if isInfiniteWord mw ew a then infinityOf toMw toEw negative else roundTo toMw toEw negative mantissa exponent false.
Theorem convert_correct : forall a, isWord mw ew a -> if isNaN mw ew Hmw Hew Hmax a then convertWord a = NAN toMw toEw else if isFinite mw ew Hmw Hew Hmax a then rounds_to toMw toEw HtoMw HtoEw HtoMax (realOf mw ew Hmw Hew Hmax a) (convertWord a) else convertWord a = signed toMw toEw (isNegative mw ew Hmw Hew Hmax a) (INFINITY toMw toEw).
Definition castInteger (value : Z) : Z := let negative := int value <? 0 in roundTo toMw toEw negative (if negative then sub 0 value else value) 0 false.
Theorem castInteger_correct : forall z, - 2 ^ 64 <= z <= 2 ^ 64 -> rounds_to toMw toEw HtoMw HtoEw HtoMax (IZR z) (castInteger (uint z)).
End Convert.

(* Sum.v *)
Require Import ZArith Reals Lia Lra Bool List.
From Flocq Require Import Core BinarySingleNaN Binary Bits.
Require Import Evm Rounding Format RoundTo.
Open Scope Z_scope.
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
Definition roundWords (negative : bool) (word2 word1 word0 lowest : Z) : Z := let exponent := int (lowest + 512) in let '(word2, word1, word0, exponent) := if word2 =? 0 then (word1, word0, 0, int (exponent - 256)) else (word2, word1, word0, exponent) in let '(word2, word1, exponent) := if word2 =? 0 then (word1, 0, int (exponent - 256)) else (word2, word1, exponent) in let shift := clz word2 in let mantissa := Z.lor (shl shift word2) (shr (sub 256 shift) word1) in let sticky := negb (Z.lor (shl shift word1) word0 =? 0) in roundTo32 negative mantissa (int (exponent - shift)) sticky.
Open Scope R_scope.
Theorem roundWords_correct : forall (negative : bool) (w2 w1 w0 lowest : Z), (0 <= w2 < W)%Z -> (0 <= w1 < W)%Z -> (0 <= w0 < W)%Z -> (-2000 <= lowest <= 2000)%Z -> let x := IZR (w2 * 2 ^ 512 + w1 * 2 ^ 256 + w0) * bpow radix2 lowest in rounds_to32 (if negative then - x else x) (roundWords negative w2 w1 w0 lowest).

(* Products.v *)
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
Definition product (x y : Z) : Z * Z * Z := let xField := Z.land x FIELD in let yField := Z.land y FIELD in let p := shr 23 (add xField yField) in let m := mul (Z.lor (Z.land x FRACTION) LEADING_BIT) (Z.lor (Z.land y FRACTION) LEADING_BIT) in if Z.lor (iszero (mul xField yField)) (Z.land (Z.lor (add xField LEADING_BIT) (add yField LEADING_BIT)) SIGN32) =? 0 then (p, m, 0) else let xMagnitude := Z.land x MAGNITUDE in let yMagnitude := Z.land y MAGNITUDE in let p := add p (add (iszero xField) (iszero yField)) in let m := mul (sub (Z.lor (Z.land x FRACTION) LEADING_BIT) (shl 23 (iszero xField))) (sub (Z.lor (Z.land y FRACTION) LEADING_BIT) (shl 23 (iszero yField))) in if Z.lor (eq xField FIELD) (eq yField FIELD) =? 0 then (p, m, 0) else let flag := shl (shr 31 (Z.lxor x y)) 2 in let flag := if iszero (mul xMagnitude yMagnitude) =? 0 then flag else 1 in let flag := if Z.lor (gt xMagnitude FIELD) (gt yMagnitude FIELD) =? 0 then flag else 1 in (p, 0, flag).
Definition addToWindow (acc : Acc) (offset term : Z) : Acc := let '(Build_Acc a b c d f) := acc in if offset =? 0 then Build_Acc (add a term) b c d f else if offset =? 0x20 then Build_Acc a (add b term) c d f else if offset =? 0x40 then Build_Acc a b (add c term) d f else Build_Acc a b c (add d term) f.
Definition addProduct (acc : Acc) (factors : Z * Z) : Acc := let '(x, y) := factors in let '(p, m, flag) := product x y in let acc := Build_Acc (lowest acc) (low acc) (high acc) (highest acc) (Z.lor (flags acc) flag) in let sign := sub 0 (shr 31 (Z.lxor x y)) in addToWindow acc (Z.land (shr 2 p) ACC_WINDOWS) (sub (Z.lxor (shl (Z.land p 0x7f) m) sign) sign).
Definition addProducts (terms : list (Z * Z)) : Acc := fold_left addProduct terms empty.
Definition special (flags : Z) : Z := if flags =? 2 then INFINITY32 else if flags =? 4 then Z.lor INFINITY32 SIGN32 else NAN32.
Definition roundSum (acc : Acc) : Z := if negb (flags acc =? 0) then special (flags acc) else let '(a, b, c, d) := (int (lowest acc), int (low acc), int (high acc), int (highest acc)) in let negative := int (d + sar 128 (int (c + sar 128 (int (b + sar 128 a))))) <? 0 in let '(a, b, c, d) := if negative then (int (- a), int (- b), int (- c), int (- d)) else (a, b, c, d) in let b := int (b + sar 128 a) in let c := int (c + sar 128 b) in let d := int (d + sar 128 c) in let word0 := Z.lor (shl 128 (uint b)) (Z.land (uint a) LOW_HALF) in let word1 := Z.lor (shl 128 (uint d)) (Z.land (uint c) LOW_HALF) in roundWords negative (shr 128 (uint d)) word1 word0 (-300).
Definition dot (terms : list (Z * Z)) : Z := roundSum (addProducts terms).
Definition zero32 (w : Z) : bool := match floatOf 23 8 P23 P8 PM w with B754_zero _ _ _ => true | _ => false end.
Inductive kind := Finite | Nan | Infinite (negative : bool).
Definition kindOf (factors : Z * Z) : kind := let '(x, y) := factors in if nan32 x || nan32 y then Nan else if finite32 x && finite32 y then Finite else if zero32 x || zero32 y then Nan else Infinite (xorb (negative32 x) (negative32 y)).
Definition same (k l : kind) : bool := match k, l with | Finite, Finite | Nan, Nan => true | Infinite s, Infinite t => eqb s t | _, _ => false end.
Definition has (k : kind) (terms : list (Z * Z)) : bool := existsb (fun t => same (kindOf t) k) terms.
Definition sumOf (terms : list (Z * Z)) : R := fold_right (fun t sum => real32 (fst t) * real32 (snd t) + sum)%R 0%R terms.
Definition is_word (t : Z * Z) : Prop := 0 <= fst t < 2 ^ 32 /\ 0 <= snd t < 2 ^ 32.
Definition fieldOf (x : Z) := (x / 2 ^ 23) mod 2 ^ 8.
Definition mantissaOf (x : Z) := if fieldOf x =? 0 then x mod 2 ^ 23 else x mod 2 ^ 23 + 2 ^ 23.
Definition exponentOf (x : Z) := if fieldOf x =? 0 then 1 else fieldOf x.
Definition flagBy (x y : Z) : Z := if (2 ^ 23 * 255 <? x mod 2 ^ 31) || (2 ^ 23 * 255 <? y mod 2 ^ 31) then 1 else if (x mod 2 ^ 31 =? 0) || (y mod 2 ^ 31 =? 0) then 1 else if xorb (2 ^ 31 <=? x) (2 ^ 31 <=? y) then 4 else 2.

(* Dot.v *)
Require Import ZArith Reals Lia Lra Bool List.
From Flocq Require Import Core BinarySingleNaN Binary Bits.
Require Import Evm Rounding Format RoundTo Sum Products.
Open Scope Z_scope.
Definition negativeProduct (t : Z * Z) := xorb (2 ^ 31 <=? fst t) (2 ^ 31 <=? snd t).
Definition units (t : Z * Z) : Z := if (fieldOf (fst t) <? 255) && (fieldOf (snd t) <? 255) then (if negativeProduct t then -1 else 1) * (mantissaOf (fst t) * mantissaOf (snd t)) * 2 ^ (exponentOf (fst t) + exponentOf (snd t)) else 0.
Definition unitsOf (terms : list (Z * Z)) : Z := fold_right (fun t sum => units t + sum) 0 terms.
Definition flagOf (k : kind) : Z := match k with Finite => 0 | Nan => 1 | Infinite false => 2 | Infinite true => 4 end.
Definition BOUND := (2 ^ 48 - 1) * 2 ^ 127.
Definition represents (acc : Acc) (n S : Z) : Prop := exists a b c d, lowest acc = a mod W /\ low acc = b mod W /\ high acc = c mod W /\ highest acc = d mod W /\ - (n * BOUND) <= a <= n * BOUND /\ - (n * BOUND) <= b <= n * BOUND /\ - (n * BOUND) <= c <= n * BOUND /\ - (n * BOUND) <= d <= n * BOUND /\ S = a + b * 2 ^ 128 + c * 2 ^ 256 + d * 2 ^ 384.
Definition flagsOf (terms : list (Z * Z)) : Z := b2z (has Nan terms) + 2 * b2z (has (Infinite false) terms) + 4 * b2z (has (Infinite true) terms).
Definition SMALL := 2 ^ 255 - 2 ^ 200.
Theorem roundSum_correct : forall acc n S, represents acc n S -> n <= 2 ^ 80 -> flags acc = 0 -> rounds_to32 (IZR S * bpow radix2 (-300)) (roundSum acc).
Theorem dot_correct : forall terms, Forall is_word terms -> Z.of_nat (length terms) <= 2 ^ 80 -> if has Nan terms || (has (Infinite false) terms && has (Infinite true) terms) then dot terms = NAN32 else if has (Infinite false) terms then dot terms = INFINITY32 else if has (Infinite true) terms then dot terms = NEG_INFINITY32 else rounds_to32 (sumOf terms) (dot terms).
Theorem dot_continued : forall first more, roundSum (fold_left addProduct more (addProducts first)) = dot (first ++ more).

(* Mul.v *)
Require Import ZArith Reals Lia Lra Bool List.
From Flocq Require Import Core BinarySingleNaN Binary Bits.
Require Import Evm Rounding Format RoundTo Sum Products Dot.
Open Scope Z_scope.
Definition roundToFloat32 (negative : bool) (mantissa exponent : Z) (sticky : bool) : Z := if mantissa =? 0 then 0 else let leading := clz mantissa in let top := int (int (exponent + 255) - leading) in if 128 <=? top then (if negative then NEG_INFINITY32 else INFINITY32) else let mantissa := shl leading mantissa in if -126 <=? top then let word := add (roundBits mantissa 232 sticky) (shl 23 (uint (int (top + 126)))) in if negative then Z.lor word SIGN32 else word else if top <? -150 then 0 else let word := roundBits mantissa (uint (int (106 - top))) sticky in if word =? 0 then 0 else if negative then Z.lor word SIGN32 else word.
Definition decode (a : Z) : Z * Z := let field := Z.land (shr 23 a) 0xff in (Z.lor (Z.land a 0x7fffff) (shl 23 (gt field 0)), int (sub (add field (iszero field)) 150)).
Definition isNaN32 (a : Z) := INFINITY32 <? Z.land a MAGNITUDE.
Definition isZero32 (a : Z) := Z.land a MAGNITUDE =? 0.
Definition areFinite (a b : Z) := (Z.land a MAGNITUDE <? INFINITY32) && (Z.land b MAGNITUDE <? INFINITY32).
Definition mul32 (a b : Z) : Z := let negative := negb (Z.land (Z.lxor a b) SIGN32 =? 0) in if negb (areFinite a b) then if isNaN32 a || isNaN32 b || isZero32 a || isZero32 b then NAN32 else if negative then NEG_INFINITY32 else INFINITY32 else let '(x, xExponent) := decode a in let '(y, yExponent) := decode b in roundToFloat32 negative (mul x y) (int (xExponent + yExponent)) false.
Theorem roundToFloat32_correct : forall (negative : bool) (m e : Z) (sticky : bool) (x : R), 0 <= m < W -> - 2 ^ 254 <= e <= 2 ^ 254 -> (if sticky then IZR m * bpow radix2 e < x < IZR (m + 1) * bpow radix2 e else x = IZR m * bpow radix2 e)%R -> (sticky = true -> 2 ^ 24 <= m \/ e <= -150) -> rounds_to32 (if negative then - x else x)%R (roundToFloat32 negative m e sticky).
Theorem mul_correct : forall a b, is_word (a, b) -> match kindOf (a, b) with | Nan => mul32 a b = NAN32 | Infinite negative => mul32 a b = if negative then NEG_INFINITY32 else INFINITY32 | Finite => rounds_to32 (real32 a * real32 b) (mul32 a b) end.
Notation flocq32 := (flocqRound 23 8 P23 PM).
Theorem dot_flocq : forall terms, Forall is_word terms -> Z.of_nat (length terms) <= 2 ^ 80 -> has Nan terms = false -> has (Infinite false) terms = false -> has (Infinite true) terms = false -> dot terms = flocq32 (unitsOf terms) (-300).
Theorem mul_flocq : forall a b, is_word (a, b) -> mul32 a b = wordOf 23 8 (b32_mult mode_NE (b32_of_bits a) (b32_of_bits b)).

(* Float32.v *)
Require Import ZArith Reals Lia Lra Bool List.
From Flocq Require Import Core BinarySingleNaN Binary Bits.
Require Import Evm Rounding Format RoundTo Decode Arithmetic Sum Products Dot Mul.
Open Scope Z_scope.
Definition WORD := 0xffffffff.
Definition isInfinite32 (a : Z) := Z.land a MAGNITUDE =? INFINITY32.
Definition isNegative32 (a : Z) := negb (Z.land a SIGN32 =? 0).
Definition areNumbers (a b : Z) := negb ((INFINITY32 <? Z.land a MAGNITUDE) || (INFINITY32 <? Z.land b MAGNITUDE)).
Definition canonical32 (a : Z) := let magnitude := Z.land a MAGNITUDE in if INFINITY32 <? magnitude then NAN32 else if magnitude =? 0 then 0 else Z.land a WORD.
Definition applySign (a magnitude : Z) : Z := let mask := sub 0 (Z.land (shr 31 a) 1) in int (sub (Z.lxor magnitude mask) mask).
Definition decodeSigned32 (a : Z) : Z * Z := let '(mantissa, exponent) := Mul.decode a in (applySign a mantissa, exponent).
Definition order32 (a : Z) := applySign a (Z.land a MAGNITUDE).
Definition roundSigned32 (z e : Z) : Z := let negative := z <? 0 in roundToFloat32 negative (uint (if negative then int (- z) else z)) e false.
Definition addSpecial (a b : Z) : Z := if isNaN32 a || isNaN32 b then NAN32 else if isInfinite32 a then if isInfinite32 b && xorb (isNegative32 a) (isNegative32 b) then NAN32 else Z.land a WORD else Z.land b WORD.
Definition add32 (a b : Z) : Z := if negb (areFinite a b) then addSpecial a b else let '(x, xExponent) := decodeSigned32 a in let '(y, yExponent) := decodeSigned32 b in let gap := int (xExponent - yExponent) in if 0 <=? gap then if 64 <? gap then Z.land a WORD else roundSigned32 (int (shlInt gap x + y)) yExponent else if gap <? - 64 then Z.land b WORD else roundSigned32 (int (x + shlInt (int (- gap)) y)) xExponent.
Definition sub32 (a b : Z) : Z := add32 a (Z.lxor b SIGN32).
Definition div32 (a b : Z) : Z := let negative := isNegative32 (Z.lxor a b) in if negb (areFinite a b) then if isNaN32 a || isNaN32 b || (isInfinite32 a && isInfinite32 b) then NAN32 else if isInfinite32 b then 0 else if (if isZero32 b then isNegative32 a else negative) then NEG_INFINITY32 else INFINITY32 else let '(x, xExponent) := Mul.decode a in let '(y, yExponent) := Mul.decode b in if y =? 0 then if x =? 0 then NAN32 else if isNegative32 a then NEG_INFINITY32 else INFINITY32 else let x := shl 50 x in roundToFloat32 negative (x / y) (int (int (xExponent - 50) - yExponent)) (negb (x mod y =? 0)).
Definition neg32 (a : Z) : Z := canonical32 (Z.lxor a SIGN32).
Definition abs32 (a : Z) : Z := canonical32 (Z.land a MAGNITUDE).
Definition min32 (a b : Z) : Z := if negb (areNumbers a b) then NAN32 else canonical32 (if order32 a <? order32 b then a else b).
Definition max32 (a b : Z) : Z := if negb (areNumbers a b) then NAN32 else canonical32 (if order32 a <? order32 b then b else a).
Definition eq32 (a b : Z) : Z := b2z (areNumbers a b && (order32 a =? order32 b)).
Definition lt32 (a b : Z) : Z := b2z (areNumbers a b && (order32 a <? order32 b)).
Definition le32 (a b : Z) : Z := b2z (areNumbers a b && (order32 a <=? order32 b)).
Definition word32 (a : Z) := 0 <= a < 2 ^ 32.
Notation with32 lemma := (lemma 23 8 P23 P8 PM ltac:(lia) ltac:(lia)).
Ltac general := change isNaN32 with (isNaNWord 23 8); change isInfinite32 with (isInfiniteWord 23 8); change isNegative32 with (isNegativeWord 23 8); change canonical32 with (canonical 23 8).
Theorem add32_general : forall a b, word32 a -> word32 b -> add32 a b = addWords 23 8 64 a b.
Theorem div32_general : forall a b, word32 a -> word32 b -> div32 a b = divWords 23 8 50 a b.
Notation infinity32 s := (if s : bool then NEG_INFINITY32 else INFINITY32).
Notation compared32 := (compared 23 8 P23 P8 PM).
Notation wordOf32 a := (wordOf 23 8 (floatOf 23 8 P23 P8 PM a)).
Theorem add_correct32 : forall a b, word32 a -> word32 b -> if nan32 a || nan32 b then add32 a b = NAN32 else if finite32 a && finite32 b then rounds_to32 (real32 a + real32 b) (add32 a b) else if negb (finite32 a) && negb (finite32 b) && xorb (negative32 a) (negative32 b) then add32 a b = NAN32 else add32 a b = infinity32 (if finite32 a then negative32 b else negative32 a).
Theorem sub_correct32 : forall a b, word32 a -> word32 b -> if nan32 a || nan32 b then sub32 a b = NAN32 else if finite32 a && finite32 b then rounds_to32 (real32 a - real32 b) (sub32 a b) else if negb (finite32 a) && negb (finite32 b) && eqb (negative32 a) (negative32 b) then sub32 a b = NAN32 else sub32 a b = infinity32 (if finite32 a then negb (negative32 b) else negative32 a).
Theorem div_correct32 : forall a b, word32 a -> word32 b -> if nan32 a || nan32 b then div32 a b = NAN32 else if finite32 b then if zero32 b then if zero32 a then div32 a b = NAN32 else div32 a b = infinity32 (negative32 a) else if finite32 a then rounds_to32 (real32 a / real32 b) (div32 a b) else div32 a b = infinity32 (xorb (negative32 a) (negative32 b)) else if finite32 a then div32 a b = 0 else div32 a b = NAN32.
Theorem lt_correct32 : forall a b, word32 a -> word32 b -> lt32 a b = match compared32 a b with Some Lt => 1 | _ => 0 end.
Theorem le_correct32 : forall a b, word32 a -> word32 b -> le32 a b = match compared32 a b with Some Lt | Some Eq => 1 | _ => 0 end.
Theorem eq_correct32 : forall a b, word32 a -> word32 b -> eq32 a b = match compared32 a b with Some Eq => 1 | _ => 0 end.
Theorem min_correct32 : forall a b, word32 a -> word32 b -> min32 a b = match compared32 a b with None => NAN32 | Some Lt => wordOf32 a | _ => wordOf32 b end.
Theorem max_correct32 : forall a b, word32 a -> word32 b -> max32 a b = match compared32 a b with None => NAN32 | Some Lt => wordOf32 b | _ => wordOf32 a end.
Theorem neg_correct32 : forall a, word32 a -> if nan32 a then neg32 a = NAN32 else if finite32 a then rounds_to32 (- real32 a) (neg32 a) else neg32 a = infinity32 (negb (negative32 a)).
Theorem abs_correct32 : forall a, word32 a -> if nan32 a then abs32 a = NAN32 else if finite32 a then rounds_to32 (Rabs (real32 a)) (abs32 a) else abs32 a = INFINITY32.

(* Sqrt.v *)
Require Import ZArith Reals Lia Lra Bool List.
From Flocq Require Import Core BinarySingleNaN Binary Bits.
Require Import Evm Rounding Format RoundTo Decode Arithmetic Sum Products Dot Mul Float32.
Open Scope Z_scope.
Definition mantissaSqrt (value : Z) : Z := let root := shl 24 3 in let root := shr 1 (add root (value / root)) in let root := shr 1 (add root (value / root)) in let root := shr 1 (add root (value / root)) in let root := shr 1 (add root (value / root)) in if value <? mul root root then sub root 1 else root.
Definition sqrt32 (a : Z) : Z := if isNaN32 a then NAN32 else if isZero32 a then 0 else if isNegative32 a then NAN32 else if isInfinite32 a then INFINITY32 else let '(mantissa, exponent) := Mul.decode a in let shift := sub (clz mantissa) 205 in let shift := if Z.land (Z.lxor (uint exponent) shift) 1 =? 1 then add shift 1 else shift in let square := shl shift mantissa in let root := mantissaSqrt square in roundToFloat32 false root (Z.quot (int (exponent - int shift)) 2) (negb (mul root root =? square)).
Theorem sqrt_correct32 : forall a, word32 a -> if nan32 a then sqrt32 a = NAN32 else if zero32 a then sqrt32 a = 0 else if negative32 a then sqrt32 a = NAN32 else if finite32 a then rounds_to32 (sqrt (real32 a)) (sqrt32 a) else sqrt32 a = INFINITY32.

(* Integral.v *)
Require Import ZArith Reals Lia Lra Bool List.
From Flocq Require Import Core BinarySingleNaN Binary Bits.
Require Import Evm Rounding Format RoundTo Decode Arithmetic Sum Products Dot Mul Float32.
Open Scope Z_scope.
Definition ONE := 0x3f800000.
Definition NEG_ONE := 0xbf800000.
Definition isIntegral (a : Z) := 0x4b000000 <=? Z.land a MAGNITUDE.
Definition decodeFraction (a : Z) : Z * Z := let '(mantissa, exponent) := decodeSigned32 a in (mantissa, uint (int (- exponent))).
Definition floor32 (a : Z) : Z := if isIntegral a then canonical32 a else let '(mantissa, places) := decodeFraction a in roundSigned32 (sar places mantissa) 0.
Definition ceil32 (a : Z) : Z := if isIntegral a then canonical32 a else let '(mantissa, places) := decodeFraction a in roundSigned32 (int (- sar places (int (- mantissa)))) 0.
Definition round32 (a : Z) : Z := if isIntegral a then canonical32 a else let '(mantissa, places) := decodeFraction a in let below := sar places mantissa in let twiceRest := shl 1 (uint (int (mantissa - shlInt places below))) in let one := shl places 1 in let below := if (one <? twiceRest) || ((one =? twiceRest) && (Z.land below 1 =? 1)) then int (below + 1) else below in roundSigned32 below 0.
Definition sign32 (a : Z) : Z := if isNaN32 a then NAN32 else if isZero32 a then 0 else if isNegative32 a then NEG_ONE else ONE.
Definition rounds_to_integer (integer : R -> Z) (f : Z -> Z) : Prop := forall a, word32 a -> if nan32 a then f a = NAN32 else if finite32 a then rounds_to32 (IZR (integer (real32 a))) (f a) else f a = infinity32 (negative32 a).
Theorem floor_correct32 : rounds_to_integer Zfloor floor32.
Theorem ceil_correct32 : rounds_to_integer Zceil ceil32.
Theorem round_correct32 : rounds_to_integer ZnearestE round32.
Theorem sign_correct32 : forall a, word32 a -> if nan32 a then sign32 a = NAN32 else if zero32 a then sign32 a = 0 else sign32 a = (if negative32 a then NEG_ONE else ONE) /\ real32 NEG_ONE = (-1)%R /\ real32 ONE = 1%R.

(* Signed.v *)
Require Import ZArith Lia Bool.
Require Import Evm.
Open Scope Z_scope.
Definition lt (a b : Z) := b2z (a <? b).
Definition slt (a b : Z) := b2z (int a <? int b).
Definition sgt (a b : Z) := b2z (int b <? int a).
Definition sarWord (s a : Z) := if s <? 256 then uint (sar s (int a)) else uint (sar 256 (int a)).
Definition word (a : Z) := 0 <= a < W.
Definition int256 (z : Z) := - 2 ^ 255 <= z < 2 ^ 255.

(* Bridge.v *)
Require Import ZArith Lia Bool List.
Require Import Evm Rounding Format RoundTo Arithmetic Sum Products Mul Float32 Integral Signed Ir.
Open Scope Z_scope.
Ltac branch := rewrite ?iszero_b2z, ?if_b2z, ?b2z_zero, ?negb_involutive.
Theorem leadingZeros_ir : forall a, Float32_leadingZeros a = clz a.
Theorem roundBits_ir : forall m drop sticky, Float32_roundBits m drop (b2z sticky) = roundBits m drop sticky.
Theorem isNaN_ir : forall a, Float32_isNaN a = b2z (isNaN32 a).
Theorem isInfinite_ir : forall a, Float32_isInfinite a = b2z (isInfinite32 a).
Theorem isZero_ir : forall a, Float32_isZero a = b2z (isZero32 a).
Theorem isNegative_ir : forall a, Float32_isNegative a = b2z (isNegative32 a).
Theorem areFinite_ir : forall a b, Float32_areFinite a b = b2z (areFinite a b).
Theorem areNumbers_ir : forall a b, Float32_areNumbers a b = b2z (areNumbers a b).
Theorem canonical_ir : forall a, Float32_canonical a = canonical32 a.
Theorem neg_ir : forall a, Float32_neg a = neg32 a.
Theorem abs_ir : forall a, Float32_abs a = abs32 a.
Theorem decode_ir : forall a, Float32_decode a = (Z.land (shr 31 a) 1, fst (Mul.decode a), uint (snd (Mul.decode a))).
Theorem applySign_ir : forall a m, Float32_applySign a m = uint (applySign a m).
Theorem order_ir : forall a, Float32_order a = uint (order32 a).
Theorem decodeSigned_ir : forall a, Float32_decodeSigned a = (uint (fst (decodeSigned32 a)), uint (snd (decodeSigned32 a))).
Theorem roundToFloat32_ir : forall negative m e sticky, Float32_roundToFloat32 (b2z negative) m (uint e) (b2z sticky) = roundToFloat32 negative m e sticky.
Theorem roundSigned_ir : forall m e, int256 m -> Float32_roundSigned (uint m) (uint e) = roundSigned32 m e.
Theorem addSpecial_ir : forall a b, Float32_addSpecial a b = addSpecial a b.
Theorem add_ir : forall a b, Float32_add a b = add32 a b.
Theorem sub_ir : forall a b, Float32_sub a b = sub32 a b.
Theorem mul_ir : forall a b, Float32_mul a b = mul32 a b.
Ltac orders := helpers; rewrite areNumbers_ir, !order_ir, ?slt_uint, ?sgt_uint, ?int_uint, ?eq_uints, ?(int_small (order32 _)) by apply order_int; branch.
Theorem min_ir : forall a b, Float32_min a b = min32 a b.
Theorem max_ir : forall a b, Float32_max a b = max32 a b.
Theorem eq_ir : forall a b, Float32_eq a b = eq32 a b.
Theorem lt_ir : forall a b, Float32_lt a b = lt32 a b.
Theorem le_ir : forall a b, Float32_le a b = le32 a b.
Theorem isIntegral_ir : forall a, Float32_isIntegral a = b2z (isIntegral a).
Theorem decodeFraction_ir : forall a, Float32_decodeFraction a = (uint (fst (decodeFraction a)), snd (decodeFraction a)).
Ltac integral a Ha := helpers; rewrite isIntegral_ir, canonical_ir, decodeFraction_ir; branch; destruct (isIntegral a) eqn:I; [reflexivity|]; destruct (fraction_parts a Ha I) as (m & p & D & P & B); rewrite ?D; cbn [fst snd]; pose proof (below_small m p ltac:(lia) B); pose proof (below_small (- m) p ltac:(lia) ltac:(lia)).
Theorem floor_ir : forall a, word32 a -> Float32_floor a = floor32 a.
Theorem ceil_ir : forall a, word32 a -> Float32_ceil a = ceil32 a.
Theorem round_ir : forall a, word32 a -> Float32_round a = round32 a.
Theorem sign_ir : forall a, Float32_sign a = sign32 a.
Definition float32_ir := (leadingZeros_ir, roundBits_ir, isNaN_ir, isInfinite_ir, isZero_ir, isNegative_ir, areFinite_ir, areNumbers_ir, canonical_ir, neg_ir, abs_ir, decode_ir, applySign_ir, order_ir, decodeSigned_ir, roundToFloat32_ir, roundSigned_ir, addSpecial_ir, add_ir, sub_ir, mul_ir, min_ir, max_ir, eq_ir, lt_ir, le_ir, isIntegral_ir, decodeFraction_ir, floor_ir, ceil_ir, round_ir, sign_ir).

(* Merkle.v *)
Require Import ZArith Lia Bool List.
Require Import Evm.
Import ListNotations.
Open Scope Z_scope.
Section Merkle.
Variable hash : Z -> Z -> Z.
Fixpoint climb (node index : Z) (siblings : list Z) : Z := match siblings with | [] => node | sibling :: rest => climb (if Z.land index 1 =? 0 then hash node sibling else hash sibling node) (shr 1 index) rest end.
Definition depth (width : Z) : option Z := if width =? 0 then None else Some (sub 256 (clz (sub width 1))).
Definition rootFromPath (node index : Z) (siblings : list Z) : option Z := let levels := Z.of_nat (length siblings) in if (levels <? 256) && (shr levels index =? 0) then Some (climb node index siblings) else None.
Definition nodeUnder (ancestor levels node index : Z) (siblings : list Z) : option bool := if Z.of_nat (length siblings) =? levels then match rootFromPath node index siblings with Some root => Some (root =? ancestor) | None => None end else None.
Definition leafUnder (root width leaf index : Z) (siblings : list Z) : option bool := if index <? width then match depth width with Some levels => nodeUnder root levels leaf index siblings | None => None end else None.
Fixpoint rootOf (levels : nat) (leafAt : Z -> Z) : Z := match levels with | O => leafAt 0 | S n => rootOf n (fun k => hash (leafAt (2 * k)) (leafAt (2 * k + 1))) end.
Definition levelsFor (width : Z) : nat := Z.to_nat (Z.log2_up width).
Fixpoint pairsOfPath (node index : Z) (siblings : list Z) : list (Z * Z) := match siblings with | [] => [] | sibling :: rest => let '(a, b) := if Z.even index then (node, sibling) else (sibling, node) in (a, b) :: pairsOfPath (hash a b) (index / 2) rest end.
Fixpoint pairsAbove (levels : nat) (leafAt : Z -> Z) (index : Z) : list (Z * Z) := match levels with | O => [] | S n => let first := 2 * (index / 2) in (leafAt first, leafAt (first + 1)) :: pairsAbove n (fun k => hash (leafAt (2 * k)) (leafAt (2 * k + 1))) (index / 2) end.
Definition Collision (some others : list (Z * Z)) : Prop := exists a b c d, In ((a, b), (c, d)) (combine some others) /\ (a, b) <> (c, d) /\ hash a b = hash c d.
Theorem leafUnder_fixes : forall leafAt width leaf index siblings, 0 < width < W -> 0 <= index -> leafUnder (rootOf (levelsFor width) leafAt) width leaf index siblings = Some true -> index < width /\ length siblings = levelsFor width /\ (leaf = leafAt index \/ Collision (pairsOfPath leaf index siblings) (pairsAbove (levelsFor width) leafAt index)).
Fixpoint pathOf (levels : nat) (leafAt : Z -> Z) (index : Z) : list Z := match levels with | O => [] | S n => leafAt (if Z.even index then index + 1 else index - 1) :: pathOf n (fun k => hash (leafAt (2 * k)) (leafAt (2 * k + 1))) (index / 2) end.
Theorem leafUnder_accepts : forall leafAt width index, 0 < width <= 2 ^ 255 -> 0 <= index < width -> leafUnder (rootOf (levelsFor width) leafAt) width (leafAt index) index (pathOf (levelsFor width) leafAt index) = Some true.
End Merkle.

(* Views.v *)
Require Import ZArith Lia Bool List.
Require Import Evm Signed.
Import ListNotations.
Open Scope Z_scope.
Definition LOW32 := 2 ^ 32 - 1.
Definition signed32 (x : Z) := (x + 2 ^ 31) mod 2 ^ 32 - 2 ^ 31.
Definition signextend3 (x : Z) := uint (signed32 x).
Definition byte (k w : Z) := Z.land (shr (248 - 8 * k) w) 255.
Section Views.
Variable load : Z -> Z.
Variable digits : Z -> Z.
Variables along terms : Z.
Variable views : Z -> Z * Z * Z.
Fixpoint coefficients (n : nat) (next c slope : Z) : Z * Z * Z := match n with | O => (c, slope, next) | S n => let w := load next in let factor := signextend3 (shr 216 w) in let digit := byte 0 w in coefficients n (add next 5) (add c (mul factor (digits digit))) (add slope (mul factor (eq digit along))) end.
Definition coordinate (position : Z) : Z * Z * Z * Z := let head := load position in let '(c, slope, next) := coefficients (Z.to_nat (byte 17 head)) (add position 18) (signextend3 (shr 160 head)) 0 in (head, int c, int slope, next).
Definition termsInside (c extent move : Z) : Z := add (if 0 <? move then sub (sub extent 1) c / uint move else c / uint (int (- move))) 1.
Definition termsOutside (c extent move : Z) : Z := if c <? 0 then (if 0 <? move then uint (int (Z.quot (int (int (move - 1) - c)) move)) else W - 1) else (if move <? 0 then add (uint (int (Z.quot (int (c - extent)) (int (- move))))) 1 else W - 1).
Definition detour (head c move : Z) : Z * Z * bool := let extent := int (shr 224 head) in let read := Z.land (shr 120 head) 255 in let '(value, step, stay) := views read in let c := if read =? 255 then c else int (c + (if value <? 0 then int (value + extent) else value)) in let held := if read =? 255 then terms else if step =? 0 then stay else 1 in let divisor := int (Z.land (shr 128 head) LOW32) in let held := if (divisor =? 1) || (move =? 0) then held else 1 in if negb (divisor =? 1) && negb (Z.rem c divisor =? 0) then (c, Z.min held terms, false) else let c := if divisor =? 1 then c else int (Z.quot c divisor) in let inside := uint c <? uint extent in let held := if inside then held else Z.min held (termsOutside c extent move) in (c, Z.min held terms, inside).
Inductive placed := OnFill (left : Z) | OnElement (element slope left : Z).
Definition plain (head c : Z) : bool := (Z.land (shr 120 head) (2 ^ 40 - 1) =? 511) && (uint c <? shr 224 head).
Fixpoint placeAxes (n : nat) (position element slope left : Z) : placed := match n with | O => OnElement element slope left | S n => let '(head, c, move, position) := coordinate position in let '(c, held, inside) := if plain head c then (c, left, true) else detour head c move in let left := Z.min left held in if negb inside then OnFill held else let stride := int (Z.land (shr 192 head) LOW32) in let element := add element (uint (int (c * stride))) in if move =? 0 then placeAxes n position element slope left else placeAxes n position element (int (slope + int (move * stride))) (Z.min left (termsInside (uint c) (shr 224 head) move)) end.
Definition place (axes : nat) (position : Z) : placed := placeAxes axes position 0 0 terms.
Record axis := { extent : Z; stride : Z; base : Z; divisor : Z; index : Z; factors : list (Z * Z) }.
Definition axisAt (p : Z) : axis := {| extent := load p / 2 ^ 224; stride := load p / 2 ^ 192 mod 2 ^ 32; base := signed32 (load p / 2 ^ 160); divisor := load p / 2 ^ 128 mod 2 ^ 32; index := load p / 2 ^ 120 mod 2 ^ 8; factors := map (fun k => let w := load (p + 18 + 5 * Z.of_nat k) in (w / 2 ^ 248, signed32 (w / 2 ^ 216))) (seq 0 (Z.to_nat (load p / 2 ^ 112 mod 2 ^ 8))) |}.
Definition axisEnd (p : Z) : Z := p + 18 + 5 * (load p / 2 ^ 112 mod 2 ^ 8).
Fixpoint axesAt (n : nat) (p : Z) : list axis := match n with O => [] | S n => axisAt p :: axesAt n (axisEnd p) end.
Definition total (l : list Z) : Z := fold_right Z.add 0 l.
Definition affine (d : Z -> Z) (a : axis) : Z := base a + total (map (fun '(digit, factor) => factor * d digit) (factors a)).
Definition indexed (v : Z -> Z) (a : axis) : Z := if index a =? 255 then 0 else if v (index a) <? 0 then v (index a) + extent a else v (index a).
Definition coordinateOf (d v : Z -> Z) (a : axis) : option Z := let c := affine d a + indexed v a in if (c mod divisor a =? 0) && (0 <=? c / divisor a) && (c / divisor a <? extent a) then Some (c / divisor a) else None.
Fixpoint elementOf (d v : Z -> Z) (axes : list axis) : option Z := match axes with | [] => Some 0 | a :: rest => match coordinateOf d v a, elementOf d v rest with Some c, Some e => Some (c * stride a + e) | _, _ => None end end.
Definition digitsAt (t k : Z) : Z := digits k + (if k =? along then t else 0).
Hypothesis load_word : forall p, 0 <= load p < W.
Hypothesis digits_bound : forall k, 0 <= digits k < 2 ^ 64.
Hypothesis terms_bound : 1 <= terms <= 2 ^ 64.
Variable valueAt : Z -> Z -> Z.
Definition index_holds (read : Z) : Prop := let '(value, step, stay) := views read in - 2 ^ 64 <= value <= 2 ^ 64 /\ 1 <= stay /\ forall t, 0 <= t < (if step =? 0 then stay else 1) -> valueAt t read = value.
Hypothesis indexes_hold : forall read, index_holds read.
Definition moveOf (a : axis) : Z := total (map (fun '(digit, factor) => factor * b2z (digit =? along)) (factors a)).
Notation coordinateAt t := (coordinateOf (digitsAt t) (valueAt t)).
Definition divides (axes : list axis) : Prop := Forall (fun a => divisor a <> 0) axes.
Theorem place_correct : forall n p, (n <= 8)%nat -> 0 <= p <= 2 ^ 64 -> divides (axesAt n p) -> match place n p with | OnFill stay => 1 <= stay <= terms /\ forall t, 0 <= t < stay -> elementOf (digitsAt t) (valueAt t) (axesAt n p) = None | OnElement element slope stay => 1 <= stay <= terms /\ forall t, 0 <= t < stay -> elementOf (digitsAt t) (valueAt t) (axesAt n p) = Some (element + t * slope) end.
End Views.

(* Reads.v *)
Require Import ZArith Lia Bool List.
Require Import Evm Signed Views.
Import ListNotations.
Open Scope Z_scope.
Section Reads.
Variable load : Z -> Z.
Variable inputs : Z.
Variable elements : Z -> Z.
Variable isInteger : Z -> bool.
Variable digitCount : Z.
Record view := { input : Z; axisCount : Z; axes : Z }.
Definition byteAt (position : Z) : Z := shr 248 (load position).
Fixpoint checkCoefficients (n : nat) (position next : Z) : option Z := match n with | O => Some position | S n => let digit := byteAt position in if (next <=? digit) && (digit <? digitCount) then checkCoefficients n (add position 5) (add digit 1) else None end.
Fixpoint decodeAxes (n : nat) (views : list view) (position last indirect : Z) : option (Z * Z * Z) := match n with | O => Some (position, last, indirect) | S n => let head := load position in let extent := shr 224 head in if negb (extent =? 0) && negb (Z.land (shr 128 head) LOW32 =? 0) then let last := add last (mul (sub extent 1) (Z.land (shr 192 head) LOW32)) in let index := Z.land (shr 120 head) 255 in let number := Z.of_nat (length views) in let isGood := (index <? number) && (Z.land (shr index indirect) 1 =? 0) && match nth_error views (Z.to_nat index) with Some v => isInteger (input v) | None => false end in let indirect' := if index =? 255 then indirect else Z.lor indirect (shl number 1) in if (index =? 255) || isGood then match checkCoefficients (Z.to_nat (Z.land (shr 112 head) 255)) (add position 18) 0 with | Some position => decodeAxes n views position last indirect' | None => None end else None else None end.
Fixpoint readAll (n : nat) (views : list view) (indirect position : Z) : option (list view * Z) := match n with | O => Some (views, position) | S n => let v := {| input := byteAt position; axisCount := byteAt (add position 9); axes := add (add position 9) 1 |} in if (input v <? inputs) && (axisCount v <=? 8) then match decodeAxes (Z.to_nat (axisCount v)) views (axes v) 0 indirect with | Some (position, last, indirect) => if last <? elements (input v) then readAll n (views ++ [v]) indirect position else None | None => None end else None end.
Definition read (position : Z) : option (list view * Z) := let n := byteAt position in if n <=? 16 then readAll (Z.to_nat n) [] 0 (add position 1) else None.
Fixpoint axesEnd (n : nat) (p : Z) : Z := match n with O => p | S n => axesEnd n (axisEnd load p) end.
Definition viewAt (p : Z) : view := {| input := load p / 2 ^ 248; axisCount := load (p + 9) / 2 ^ 248; axes := p + 10 |}.
Definition axesOf (v : view) : list axis := axesAt load (Z.to_nat (axisCount v)) (axes v).
Definition viewEnd (v : view) : Z := axesEnd (Z.to_nat (axisCount v)) (axes v).
Fixpoint viewsAt (n : nat) (p : Z) : list view * Z := match n with | O => ([], p) | S n => let '(rest, after) := viewsAt n (viewEnd (viewAt p)) in (viewAt p :: rest, after) end.
Fixpoint rises (next : Z) (numbers : list Z) : bool := match numbers with | [] => true | digit :: rest => (next <=? digit) && (digit <? digitCount) && rises (digit + 1) rest end.
Definition isDirect (v : view) : bool := forallb (fun a => index a =? 255) (axesOf v).
Definition axisIsGood (earlier : list view) (a : axis) : bool := negb (extent a =? 0) && negb (divisor a =? 0) && rises 0 (map fst (factors a)) && ((index a =? 255) || match nth_error earlier (Z.to_nat (index a)) with Some v => isInteger (input v) && isDirect v | None => false end).
Definition farthest (l : list axis) : Z := total (map (fun a => (extent a - 1) * stride a) l).
Definition viewIsGood (earlier : list view) (v : view) : bool := (input v <? inputs) && (axisCount v <=? 8) && forallb (axisIsGood earlier) (axesOf v) && (farthest (axesOf v) <? elements (input v)).
Fixpoint allGood (earlier views : list view) : bool := match views with [] => true | v :: rest => viewIsGood earlier v && allGood (earlier ++ [v]) rest end.
Hypothesis load_word : forall p, 0 <= load p < W.
Definition marks (indirect : Z) (views : list view) : Prop := forall k v, nth_error views k = Some v -> Z.testbit indirect (Z.of_nat k) = negb (isDirect v).
Theorem read_correct : forall p, 0 <= p <= 2 ^ 64 -> let n := load p / 2 ^ 248 in let '(views, after) := viewsAt (Z.to_nat n) (p + 1) in read p = if (n <=? 16) && allGood [] views then Some (views, after) else None.
Theorem view_inside : forall earlier v d values e, viewIsGood earlier v = true -> elementOf d values (axesOf v) = Some e -> 0 <= e < elements (input v).
Theorem view_divides : forall earlier v, viewIsGood earlier v = true -> divides (axesOf v) /\ Forall (fun a => index a = 255 \/ exists w, In w earlier /\ isInteger (input w) = true /\ nth_error earlier (Z.to_nat (index a)) = Some w /\ Forall (fun b => index b = 255) (axesOf w)) (axesOf v).
End Reads.

(* Segments.v *)
Require Import ZArith Lia Bool List.
Require Import Evm Signed.
Open Scope Z_scope.
Section Segments.
Variables log2Bytes data chunks : Z.
Variable index : Z -> Z.
Record segment := { start : Z; bytes : Z; address : Z }.
Definition opened : segment := if chunks =? 0 then {| start := 0; bytes := 0; address := 0 |} else if sub (index (sub chunks 1)) (index 0) =? sub chunks 1 then {| start := mul (index 0) 512; bytes := mul 512 chunks; address := data |} else {| start := 0; bytes := 0; address := data |}.
Fixpoint search (steps : nat) (chunk low high : Z) : Z := match steps with | O => low | S steps => if low <? high then let middle := add low high / 2 in if index middle <? chunk then search steps chunk (add middle 1) high else search steps chunk low middle else low end.
Definition seek (s : segment) (offset : Z) : option segment := if sub offset (start s) <? bytes s then Some s else let chunk := offset / 512 in let found low := {| start := mul chunk 512; bytes := 512; address := add data (mul low 512) |} in let next := add (sub (address s) data / 512) 1 in if (next <? chunks) && (index next =? chunk) then Some (found next) else let low := search 256 chunk 0 chunks in if (low <? chunks) && (index low =? chunk) then Some (found low) else None.
Definition placeOnElement (s : segment) (element slope left : Z) : option (Z * Z * Z * segment) := let offset := shl log2Bytes element in match seek s offset with | None => None | Some s => let within := sub offset (start s) in let step := int (slope * 2 ^ log2Bytes) in let room := if 0 <? step then sub (sub (bytes s) 1) within / uint step else within / uint (int (- step)) in let left := if step =? 0 then left else if room <? left then add room 1 else left in Some (add (address s) within, uint step, left, s) end.
Definition pointerAfter (pointer step terms : Z) : Z := add pointer (mul step terms).
Definition address_of (byte at_ : Z) : Prop := exists k, 0 <= k < chunks /\ index k = byte / 512 /\ at_ = data + 512 * k + byte mod 512.
Definition segment_is_right (s : segment) : Prop := 0 <= start s < 2 ^ 200 /\ 0 <= bytes s <= 512 * chunks /\ (data <= address s <= data + 512 * chunks \/ chunks = 0) /\ forall b, start s <= b < start s + bytes s -> address_of b (address s + (b - start s)).
Hypothesis data_bound : 0 <= data < 2 ^ 64.
Hypothesis chunks_bound : 0 <= chunks < 2 ^ 64.
Hypothesis index_bound : forall k, 0 <= index k < 2 ^ 190.
Hypothesis index_rises : forall j k, 0 <= j < k -> k < chunks -> index j < index k.
Hypothesis log2_bound : 0 <= log2Bytes <= 5.
Theorem opened_correct : segment_is_right opened.
Theorem seek_correct : forall s offset, segment_is_right s -> 0 <= offset < 2 ^ 200 -> match seek s offset with | Some t => segment_is_right t /\ start t <= offset < start t + bytes t | None => forall k, 0 <= k < chunks -> index k <> offset / 512 end.
Theorem placeOnElement_correct : forall s element slope left, segment_is_right s -> 0 <= element < 2 ^ 190 -> Z.abs slope < 2 ^ 190 -> 1 <= left <= 2 ^ 64 -> match placeOnElement s element slope left with | Some (pointer, step, held, t) => segment_is_right t /\ 1 <= held <= left /\ forall k, 0 <= k < held -> let b := (element + k * slope) * 2 ^ log2Bytes in address_of b (pointerAfter pointer step k) /\ b mod 512 + 2 ^ log2Bytes <= 512 | None => forall k, 0 <= k < chunks -> index k <> element * 2 ^ log2Bytes / 512 end.
End Segments.

(* Gadget.v *)
Require Import ZArith Znumtheory Reals Lia Lra Bool List.
From Flocq Require Import Core.
Require Import Evm Rounding Format.
Import ListNotations.
Open Scope Z_scope.
Definition linear := list (Z * Z).
Definition constraint := (linear * linear * linear)%type.
Definition ONE : linear := [(0, 1)].
Definition wire (n : Z) : linear := [(n, 1)].
Definition plus (a b : linear) (factor : Z) : linear := a ++ map (fun '(w, c) => (w, factor * c)) b.
Definition minus (a b : linear) : linear := plus a b (-1).
Definition bit (n : Z) : constraint := (wire n, minus (wire n) ONE, []).
Fixpoint bitsFrom (count : nat) (n : Z) : list constraint := match count with O => [] | S count => bit n :: bitsFrom count (n + 1) end.
Fixpoint fromBits (count : nat) (n weight : Z) : linear := match count with O => [] | S count => (n, weight) :: fromBits count (n + 1) (2 * weight) end.
Fixpoint weights (steps : nat) (weight rest : Z) : list Z := match steps with | O => [] | S steps => if 0 <? rest then Z.min weight rest :: weights steps (2 * weight) (rest - Z.min weight rest) else [] end.
Fixpoint weighted (n : Z) (l : list Z) : linear := match l with [] => [] | w :: l => (n, w) :: weighted (n + 1) l end.
Definition factor (n w : Z) : linear := plus ONE (wire n) (2 ^ w - 1).
Fixpoint powers (l : list Z) (n : Z) (power : linear) (next : Z) : linear * list constraint * Z := match l with | [] => (power, [], next) | w :: l => let '(result, cs, after) := powers l (n + 1) (wire next) (next + 1) in (result, (power, factor n w, wire next) :: cs, after) end.
Definition shift (most n : Z) : linear * linear * list constraint * Z := let l := weights 256 1 most in let after := n + Z.of_nat (length l) in let '(power, cs, after) := match l with [] => (ONE, [], after) | w :: rest => powers rest (n + 1) (factor n w) after end in (weighted n l, power, bitsFrom (length l) n ++ cs, after).
Definition isNonzero (value : linear) (n : Z) : list constraint := [(value, wire n, wire (n + 1)); (value, minus ONE (wire (n + 1)), [])].
Definition roundsUp (half odd low : linear) (n : Z) : linear * list constraint * Z := match low with | [] => (wire n, [(half, odd, wire n)], n + 1) | _ => let either := plus odd (wire (n + 2)) 1 in (wire (n + 3), isNonzero low n ++ [(minus ONE odd, wire (n + 1), wire (n + 2)); (half, either, wire (n + 3))], n + 4) end.
Definition signFactor (n : Z) : linear := plus ONE (wire n) (-2).
Definition gadget (L M D : Z) (isSigned : bool) (value : linear) (n : Z) : linear * list constraint * Z := let most := L - M - D in let '(magnitude, signs, n0) := if isSigned then (wire (n + 1), [bit n; (signFactor n, value, wire (n + 1))], n + 2) else (value, [], n) in let '(amount, power, shifts, n1) := shift most n0 in let first := n1 in let at_ k := first + k in let n2 := first + L in let top := wire (at_ (L - 1)) in let half := wire (at_ (L - M - 1)) in let low := fromBits (Z.to_nat (L - M - 1)) first 1 in let kept := fromBits (Z.to_nat M) (at_ (L - M)) 1 in let '(up, ups, n3) := roundsUp half (wire (at_ (L - M))) low n2 in let rounded := plus kept up 1 in let '(result, backs, n4) := if 0 <? most then (wire (n3 + 1), [(wire n3, power, [(0, 2 ^ most)]); (rounded, wire n3, wire (n3 + 1))], n3 + 2) else (rounded, [], n3) in let '(signed, ends, n5) := if isSigned then (wire n4, [(signFactor n, result, wire n4)], n4 + 1) else (result, [], n4) in (signed, signs ++ shifts ++ bitsFrom (Z.to_nat L) first ++ [(magnitude, power, fromBits (Z.to_nat L) first 1)] ++ (if 0 <? most then [(minus ONE top, minus [(0, most)] amount, [])] else []) ++ (if 0 <? D then [(minus ONE top, plus low half (2 ^ (L - M - 1)), [])] else []) ++ ups ++ backs ++ ends, n5).
Definition eval (env : Z -> Z) (l : linear) : Z := fold_right (fun '(w, c) sum => c * env w + sum) 0 l.
Definition holds (order : Z) (env : Z -> Z) (c : constraint) : Prop := let '(x, y, z) := c in (eval env x * eval env y - eval env z) mod order = 0.
Definition stands_for (order : Z) (env : Z -> Z) (l : linear) (x : Z) : Prop := (eval env l - x) mod order = 0.
Section Sound.
Variable r : Z.
Hypothesis r_prime : prime r.
Hypothesis r_large : 2 ^ 253 <= r.
Variable env : Z -> Z.
Hypothesis env_one : env 0 = 1.
Hypothesis env_range : forall w, 0 <= env w < r.
Definition same (a b : Z) : Prop := (r | a - b).
Fixpoint number (count : nat) (n : Z) : Z := match count with O => 0 | S count => env n + 2 * number count (n + 1) end.
Definition sumOf (l : list Z) : Z := fold_right Z.add 0 l.
Fixpoint chosen (n : Z) (l : list Z) : Z := match l with [] => 0 | w :: l => w * env n + chosen (n + 1) l end.
Definition roundedUp (half odd low : Z) : Z := if (half =? 1) && ((odd =? 1) || negb (low =? 0)) then 1 else 0.
Definition rounded_to (M : Z) (x : R) : R := round radix2 (FLX_exp M) ZnearestE x.
Theorem gadget_correct : forall L M D isSigned value n x, 0 < M -> 0 <= D -> M + D <= L -> M < L -> L + (L - M - D) <= 252 -> stands_for r env value x -> Z.abs x < 2 ^ L -> (isSigned = false -> 0 <= x) -> let '(result, constraints, _) := gadget L M D isSigned value n in Forall (holds r env) constraints -> (isSigned = true -> (x < 0 -> env n = 1) /\ (0 < x -> env n = 0)) /\ exists y, stands_for r env result y /\ Z.abs y <= 2 ^ (L - D) /\ IZR (y * 2 ^ D) = rounded_to M (IZR x).
End Sound.
Theorem gadget_float32 : forall order env L D unit isSigned value n x, prime order -> 2 ^ 253 <= order -> env 0 = 1 -> (forall w, 0 <= env w < order) -> 24 < L -> 0 <= D <= L - 24 -> L + (L - 24 - D) <= 252 -> -149 <= unit -> L + unit <= 127 -> stands_for order env value x -> Z.abs x < 2 ^ L -> (isSigned = false -> 0 <= x) -> let '(result, constraints, _) := gadget L 24 D isSigned value n in Forall (holds order env) constraints -> (isSigned = true -> (x < 0 -> env n = 1) /\ (0 < x -> env n = 0)) /\ exists y, stands_for order env result y /\ Z.abs y <= 2 ^ (L - D) /\ (IZR y * bpow radix2 (unit + D) = rounded 23 8 (IZR x * bpow radix2 unit))%R /\ (Rabs (rounded 23 8 (IZR x * bpow radix2 unit)) <= bpow radix2 127)%R.

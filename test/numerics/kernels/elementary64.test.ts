import { expect } from "chai";
import { ESTIMATES64, quick64, type Name64 } from "../../../src/numerics/kernels/elementary64/elementary64.ts";
import { DType } from "../../../src/numerics/dtype.ts";
import { applyOperation } from "../../../src/program/expression.ts";
import { Op } from "../../../src/program/operations.ts";
import { AT_LENGTH } from "../../../testkit/atLength.ts";
import type { OperandPair } from "../../../testkit/numerics/elementaryCases.ts";
import {
  hardOperands64,
  hardPowPairs64,
  number64,
  relevantOperands64,
  word64,
} from "../../../testkit/numerics/elementaryCases64.ts";

const INPUTS = AT_LENGTH ? 50_000 : 400;
const NAMES = Object.keys(ESTIMATES64) as Name64[];
/** Operands that an estimate leaves to the definition, though the result is an ordinary number: at most so many. */
const MAX_UNSETTLED = 0.02;

describe("estimates of elementary functions of float64", () => {
  for (const name of NAMES)
    it(`${name}_whereItIsSettled_isWhatTheDefinitionGives`, () => {
      const hard: OperandPair[] = name === "pow" ? hardPowPairs64() : hardOperands64().map((a) => [a, 0n]);
      const quick = quick64(name);
      for (const [a, b] of [...hard, ...relevantOperands64(name, INPUTS)]) {
        const result = quick(number64(a), number64(b));
        if (Number.isNaN(result)) continue;
        const defined = applyOperation(Op[name], DType.float64, a, b, 0n);
        if (word64(result) !== defined)
          expect.fail(`${name}(${number64(a)}, ${number64(b)}) is ${number64(defined)}, not ${result}`);
      }
    });

  for (const name of NAMES)
    it(`${name}_ofOrdinaryOperands_isSettled`, () => {
      const quick = quick64(name);
      const unsettled = Array.from({ length: 1000 }, (_, k) => {
        const t = 0.01 + ((k * 0.7366621) % 0.98);
        return name === "pow" ? quick(20 * t, 7.3 - 13 * t) : quick(name === "acosh" ? 1 + t : t, 0);
      }).filter(Number.isNaN);
      expect(unsettled.length).to.be.at.most(MAX_UNSETTLED * 1000);
    });
});

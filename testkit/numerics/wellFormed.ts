import { DType } from "../../src/numerics/dtype.ts";
import { decodeStepBody } from "../../src/program/decode.ts";
import { ProgramFormatError } from "../../src/program/errors.ts";
import { validateStep } from "../../src/program/validate.ts";

/** Whether the definition accepts a body, with whatever output type and count it gives. */
export function isWellFormed(body: Uint8Array): boolean {
  return Object.values(DType).some((dtype) => {
    try {
      const step = decodeStepBody(body, { dtype, count: 0 });
      validateStep({ ...step, count: step.outDigits.reduce((product, radix) => product * radix, 1) });
      return true;
    } catch (error) {
      if (error instanceof ProgramFormatError) return false;
      throw error;
    }
  });
}

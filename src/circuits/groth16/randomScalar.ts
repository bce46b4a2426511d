import { randomBytes } from "node:crypto";
import { residue } from "../field.ts";

/** An almost uniform scalar, from 64 random bytes. */
export const randomScalar = (): bigint => residue(BigInt(`0x${randomBytes(64).toString("hex")}`));

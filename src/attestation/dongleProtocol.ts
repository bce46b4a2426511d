import { isHex, type Hex } from "viem";
import { z } from "zod/v4";
import type { ReportKind } from "../chain/structs.ts";
import type { DeviceIdentity, DeviceSignature, SignRequest } from "./device.ts";
import { endorsementJson, endorsementSchema } from "./standInDevice.ts";
import { point, signature, uint64, word } from "./standInFile.ts";

/*
 * What is said at a dongle's socket: a request and its answer, each a line with a JSON object, on a connection of its
 * own. There are two requests,
 * {"do": "identity"} and {"do": "sign", ...}; no other request makes a device sign, and none shows its key.
 */

/** The longest line, bytes: a request has some 500, an identity 900. */
export const MAX_LINE_BYTES = 2_048;

const address = z.custom<Hex>((value) => isHex(value) && value.length === 42);

/** A request. */
export const requestSchema = z.discriminatedUnion("do", [
  z.object({ do: z.literal("identity") }).strict(),
  z
    .object({
      do: z.literal("sign"),
      domain: word,
      nonce: word,
      kind: z
        .number()
        .int()
        .min(1)
        .max(23)
        .transform((kind) => kind as ReportKind),
      worker: address,
      body: word,
      aux: word,
      after: uint64,
    })
    .strict(),
]);
export type Request = z.infer<typeof requestSchema>;

const identitySchema = z.object({ key: point, endorsement: endorsementSchema }).strict();
const signatureSchema = z
  .object({
    seq: uint64,
    debugStatus: z.number().int().min(0).max(23),
    signature,
  })
  .strict();
const errorSchema = z.object({ error: z.string() }).strict();

export const answers = { identity: identitySchema.or(errorSchema), sign: signatureSchema.or(errorSchema) };

/** The lines of requests and answers, without their ends. */
export const lineOf = {
  askIdentity: (): string => JSON.stringify({ do: "identity" }),
  askSign: (request: SignRequest): string => JSON.stringify({ do: "sign", ...request, after: String(request.after) }),
  identity: ({ key, endorsement }: DeviceIdentity): string =>
    JSON.stringify({ key, endorsement: endorsementJson(endorsement) }),
  signature: (signed: DeviceSignature): string => JSON.stringify({ ...signed, seq: String(signed.seq) }),
  error: (message: string): string => JSON.stringify({ error: message }),
};

import { isAddress, isHex, type Address, type Hex } from "viem";
import { z } from "zod/v4";
import type { Ticket } from "../../chain/structs.ts";
import type { AnswerBody, Info, Payment, Question } from "./messages.ts";
import type { AnswerRequest } from "./typedData.ts";

/** The schemas of the messages between worker and payer. */

const hash = z
  .string()
  .refine((text): text is Hex => isHex(text) && text.length === 66, "expected 0x and 64 hexadecimal digits")
  .meta({ pattern: "^0x[0-9a-fA-F]{64}$" });
const address = z
  .string()
  .refine((text): text is Address => isAddress(text), "expected an address")
  .meta({ pattern: "^0x[0-9a-fA-F]{40}$" });
const signature = z
  .string()
  .refine((text): text is Hex => isHex(text) && text.length === 132, "expected a signature of 65 bytes")
  .meta({ pattern: "^0x[0-9a-fA-F]{130}$" });
const WHOLE = /^(0|[1-9]\d{0,77})$/;
const whole = (bits: number) =>
  z
    .string()
    // One check: after a failed one, zod goes on with the next.
    .refine(
      (text) => WHOLE.test(text) && BigInt(text) < 2n ** BigInt(bits),
      `expected a whole number as decimal text, less than 2^${bits}`,
    )
    .meta({ pattern: WHOLE.source });
const word32 = z.int().min(0).max(0xffff_ffff);

export const infoSchema = z.object({
  worker: address,
  chainId: z.int().min(1),
  tickets: address,
  face: whole(96).meta({ description: "least face of a ticket, smallest units of the stake asset" }),
  oneIn: z.int().min(1).meta({ description: "a ticket wins once in at most so many times" }),
  claimLifetime: z.int().min(1).meta({ description: "seconds in which a signed claim can be put on chain" }),
  maxBodyBytes: z.int().min(1),
  unpaid: z.int().min(1).default(1).meta({ description: "answers that one payer may hold unpaid" }),
  programs: z.array(hash),
}) satisfies z.ZodType<Info>;

export const questionSchema = z.object({
  payer: address,
  request: z.object({
    worker: address,
    programRoot: hash,
    inputsRoot: hash,
    items: word32.min(1),
    firstItem: word32,
    time: whole(64),
    nonce: hash,
  }),
  signature,
  inputs: z.array(z.base64()).max(256),
}) satisfies z.ZodType<Question>;

export const answerSchema = z.object({
  claim: z.object({
    worker: address,
    payer: address,
    programRoot: hash,
    inputsRoot: hash,
    items: word32.min(1),
    firstItem: word32,
    number: whole(64),
    issued: whole(64),
    root: hash,
    secretHash: hash,
  }),
  signature,
  outputs: z.array(z.base64()).min(1).max(16),
}) satisfies z.ZodType<AnswerBody>;

export const paymentSchema = z.object({
  ticket: z.object({ claim: hash, face: whole(96), odds: whole(256), expiry: whole(64), nonce: hash }),
  signature,
}) satisfies z.ZodType<Payment>;

export const takenSchema = z.object({ taken: z.literal(true) });
export const refusalSchema = z.object({ code: z.string(), message: z.string() });

/** What of a question comes before the inputs. */
export const headSchema = questionSchema.omit({ inputs: true });

export const requestOf = ({ request }: Pick<Question, "request">): AnswerRequest => ({
  ...(request as AnswerRequest & typeof request),
  time: BigInt(request.time),
});

export const ticketOfBody = ({ ticket }: Pick<Payment, "ticket">): Ticket =>
  ({ ...ticket, face: BigInt(ticket.face), odds: BigInt(ticket.odds), expiry: BigInt(ticket.expiry) }) as Ticket;

export const ticketBody = (ticket: Ticket): Payment["ticket"] => ({
  ...ticket,
  face: String(ticket.face),
  odds: String(ticket.odds),
  expiry: String(ticket.expiry),
});

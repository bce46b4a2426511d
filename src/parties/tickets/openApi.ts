import { z } from "zod/v4";
import { REFUSALS, type TicketRefusal } from "./errors.ts";
import {
  answerSchema,
  infoSchema,
  paymentSchema,
  questionSchema,
  refusalSchema,
  takenSchema,
} from "./messageSchemas.ts";

const json = (schema: z.ZodType) => ({ content: { "application/json": { schema: schemaOf(schema) } } });

/**
 * Returns the OpenAPI schema of a body: the body's JSON Schema, without the dialect's name, which the document carries.
 */
function schemaOf(schema: z.ZodType): object {
  const entries = Object.entries(z.toJSONSchema(schema, { unrepresentable: "any" }));
  return Object.fromEntries(entries.filter(([name]) => name !== "$schema"));
}

const refusals = (...statuses: TicketRefusal[]) =>
  Object.fromEntries(
    statuses.map((status) => [String(status), { description: REFUSALS[status], ...json(refusalSchema) }]),
  );

/** The interface of a worker's endpoint: made of the schemas that check its bodies. */
export const openApi = {
  openapi: "3.1.0",
  info: {
    title: "A worker of Refute",
    version: "1",
    description: "Answers with signed claims, paid by lottery tickets. Bytes are base64, large numbers decimal text.",
  },
  paths: {
    "/v1/info": {
      get: {
        summary: "Who the worker is, what it serves and what its tickets must be",
        responses: { "200": { description: "its terms", ...json(infoSchema) } },
      },
    },
    "/v1/answers": {
      post: {
        summary: "Ask for an answer",
        requestBody: { required: true, ...json(questionSchema) },
        responses: {
          "200": {
            description:
              "the outputs, and the worker's signed claim about them. With accept: application/x-ndjson, lines with " +
              "item and token of a decoder come before, and no signature covers these lines",
            ...json(answerSchema),
          },
          ...refusals(400, 401, 402, 404, 409, 413, 429, 503),
        },
      },
    },
    "/v1/tickets": {
      post: {
        summary: "Pay an answer with a ticket",
        requestBody: { required: true, ...json(paymentSchema) },
        responses: {
          "200": { description: "the ticket is kept", ...json(takenSchema) },
          ...refusals(400, 401, 402, 404, 413, 503),
        },
      },
    },
  },
} as const;

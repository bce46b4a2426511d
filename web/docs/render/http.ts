import { openApi } from "../../../src/parties/tickets/openApi.ts";
import { escapeMarkdown, indented } from "./markdown.ts";

type Body = { content: { "application/json": { schema: object } } };
type Operation = {
  summary: string;
  requestBody?: Body;
  responses: Record<string, { description: string } & Partial<Body>>;
};

/** The interface of `refute tickets serve`, as its OpenAPI document has it. */
export function httpPage(): string {
  const paths = Object.entries(openApi.paths as unknown as Record<string, Record<string, Operation>>);
  const operations = paths.flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) =>
      operationSection(`${method.toUpperCase()} ${path}`, operation),
    ),
  );
  const { title, description } = openApi.info;
  const served = "Served by `refute tickets serve` ([docs/tickets.md](docs/tickets.md)).";
  const about = `${escapeMarkdown(description)} ${served}`;
  return [`# ${title}, over HTTP`, about, ...operations].join("\n\n");
}

function operationSection(name: string, { summary, requestBody, responses }: Operation): string {
  const refusals = Object.entries(responses).filter(([status]) => status !== "200");
  const answer = responses["200"]!;
  return [
    `## ${name}`,
    `${escapeMarkdown(summary)}.`,
    ...(requestBody === undefined ? [] : ["What is sent:", schemaOf(requestBody)]),
    `What comes back (200: ${escapeMarkdown(answer.description)}):`,
    schemaOf(answer as Body),
    ...(refusals.length === 0 ? [] : ["Refusals:"]),
    refusals.map(([status, { description }]) => `- **${status}**: ${escapeMarkdown(description)}`).join("\n"),
  ].join("\n\n");
}

const schemaOf = ({ content }: Body): string => indented(JSON.stringify(content["application/json"].schema, null, 2));

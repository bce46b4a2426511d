import { counted, grouped, shown } from "../format.ts";
import { Table } from "../ui/table.tsx";
import type { OutputView, Ran } from "./messages.ts";

const HOW = { gpu: "this machine's GPU", kernels: "the worker's kernels", definition: "the definition" };

/** The outputs of an execution, exact and in plain onnxruntime: bits that differ are lit. */
export function RunView({ ran }: { ran: Ran }) {
  const { by, outputs, milliseconds, plain } = ran;
  return (
    <div class="stack">
      <p class="soft">
        Exact, by {HOW[by]}, in {grouped(Math.round(milliseconds))} ms.{" "}
        {"milliseconds" in plain
          ? `Plain onnxruntime-web took ${plain.milliseconds.toFixed(1)} ms.`
          : shown(plain.why, 300)}
      </p>
      {outputs.map((output) => (
        <Output key={output.name} output={output} />
      ))}
    </div>
  );
}

function Output({ output: { name, dtype, shape, count, differing, furthest, elements } }: { output: OutputView }) {
  return (
    <section class="stack-tight">
      <h3>
        {shown(name, 60)} <span class="soft">{`${dtype}[${shape.join(", ")}]`}</span>
      </h3>
      {differing !== undefined && <p>{plainText(differing, count, furthest)}</p>}
      <div class="outputs" tabIndex={0} role="group" aria-label={`Numbers of ${shown(name, 60)}`}>
        <Table
          columns={[
            ["Number", "right"],
            ["Exact", "right"],
            ["Its bits"],
            ...(differing === undefined ? [] : ([["Plain", "right"], ["Plain bits"]] as const)),
          ]}
          rows={elements.map(({ index, exact, bits, plain }) => ({
            key: index,
            cells: [
              <span class="soft">{grouped(index)}</span>,
              exact,
              <span class="mono bits">{bits}</span>,
              ...(plain === undefined
                ? []
                : [
                    plain.text,
                    <span class="mono bits">
                      {[...plain.bits].map((bit, k) => (bit === bits[k] ? bit : <mark key={k}>{bit}</mark>))}
                    </span>,
                  ]),
            ],
          }))}
        />
      </div>
      {count > elements.length && <p class="soft small">{grouped(elements.length)} of them are shown.</p>}
    </section>
  );
}

/** What plain onnxruntime makes of the same model and input. */
function plainText(differing: number, count: number, furthest: number | undefined): string {
  if (differing === 0) return "Plain onnxruntime gives the same bits here.";
  const far = furthest === undefined ? "" : `, by at most ${counted(furthest, "last place")}`;
  return (
    `Plain onnxruntime is off in ${grouped(differing)} of ${counted(count, "number")}${far}. On another machine it may ` +
    "give other bits; the exact result is the same everywhere."
  );
}

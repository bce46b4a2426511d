import { counted, grouped, shown } from "../format.ts";
import type { ElementView, OutputView, Ran } from "./messages.ts";

const HOW = { kernels: "the worker's kernels", definition: "the definition" };

/** The outputs of an execution, exact and in plain onnxruntime: bits that differ are lit. */
export function RunView({ ran }: { ran: Ran }) {
  const { by, outputs, milliseconds, plain } = ran;
  return (
    <div class="stack">
      <p class="soft">
        Exact, by {HOW[by]}, in {grouped(Math.round(milliseconds))} ms.{" "}
        {"milliseconds" in plain
          ? `Plain onnxruntime-web took ${plain.milliseconds.toFixed(1)} ms: its sums depend on their order.`
          : shown(plain.why, 300)}
      </p>
      {outputs.map((output) => (
        <Output key={output.name} output={output} />
      ))}
    </div>
  );
}

function Output({ output: { name, dtype, shape, count, differing, elements } }: { output: OutputView }) {
  return (
    <section class="stack-tight">
      <h3>
        {shown(name, 60)} <span class="soft">{`${dtype}[${shape.join(", ")}]`}</span>
      </h3>
      {differing !== undefined && (
        <p class={differing > 0 ? "differing" : "soft"}>
          {differing === 0 ? "No bit differs." : `${grouped(differing)} of ${counted(count, "number")} differ.`}
        </p>
      )}
      <div class="table outputs" tabIndex={0} aria-label={`Numbers of ${shown(name, 60)}`}>
        <table>
          <thead>
            <tr>
              <th class="right">Number</th>
              <th class="right">Exact</th>
              <th>Bits</th>
              {differing !== undefined && <th class="right">Plain</th>}
              {differing !== undefined && <th>Bits</th>}
            </tr>
          </thead>
          <tbody>
            {elements.map((element) => (
              <Row key={element.index} element={element} />
            ))}
          </tbody>
        </table>
      </div>
      {count > elements.length && <p class="soft small">{grouped(elements.length)} of them are shown.</p>}
    </section>
  );
}

function Row({ element: { index, exact, bits, plain } }: { element: ElementView }) {
  return (
    <tr>
      <td class="right soft">{grouped(index)}</td>
      <td class="right">{exact}</td>
      <td class="mono bits">{bits}</td>
      {plain !== undefined && <td class="right">{plain.text}</td>}
      {plain !== undefined && (
        <td class="mono bits">
          {[...plain.bits].map((bit, k) => (bit === bits[k] ? bit : <mark key={k}>{bit}</mark>))}
        </td>
      )}
    </tr>
  );
}

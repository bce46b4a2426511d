import { useState } from "preact/hooks";
import { byteText } from "../../src/base/text.ts";
import { counted, grouped, shown } from "../format.ts";
import { Facts } from "../ui/facts.tsx";
import { Hex } from "../ui/hex.tsx";
import { GraphView } from "./graphView.tsx";
import type { InputView, OpenedModel } from "./messages.ts";
import { StepList } from "./stepList.tsx";
import type { Shapes } from "./useEngine.ts";

type Props = { name: string; opened: OpenedModel; onShapes: (shapes: Shapes) => void };

/** Whether a model can be served, what it costs, and what it consists of. */
export function ReportView({ name, opened, onShapes }: Props) {
  const { report, inputs, graph, steps } = opened;
  const { program, refusals, unreached } = report;
  const needsShapes = refusals.length > 0 && refusals.every(({ code }) => code === "COMPILE_INPUT_SHAPE");
  const isOpen = inputs.some(({ shape }) => /[^\d, ]/.test(shape));
  const verdict = report.served ? "can be served" : needsShapes ? "shapes are missing" : "cannot be served";
  return (
    <div class="stack">
      <div class="row">
        <h2>{shown(name, 80)}</h2>
        <span class={report.served ? "tag firm" : "tag loud"}>{verdict}</span>
      </div>
      {refusals.length > 0 && !(needsShapes && refusals.every(({ reason }) => !/does not fit/.test(reason))) && (
        <ul class="refusals">
          {refusals.slice(0, 20).map(({ operator, node, reason }, k) => (
            <li key={k}>
              {!reason.startsWith(operator) && <strong>{shown(operator, 60)} </strong>}
              {!reason.includes(node) && <span class="soft">{shown(node, 80)} </span>}
              {shown(withoutFlags(reason), 600)}
            </li>
          ))}
          {refusals.length > 20 && <li class="soft">and {counted(refusals.length - 20, "other")}</li>}
          {unreached > 0 && <li class="soft">{counted(unreached, "node")} that read from these were not judged</li>}
        </ul>
      )}
      {isOpen && !report.served && <ShapeForm inputs={inputs} onShapes={onShapes} />}
      {program !== undefined && (
        <Facts
          of={[
            ["Program root", <Hex value={program.programRoot} />],
            ["Inputs", program.inputs.map((text) => shown(text)).join("; ")],
            ["Outputs", program.outputs.map((text) => shown(text)).join("; ")],
            ["Parameters", grouped(program.parameters)],
            ["Steps", `${grouped(program.steps)}, ${counted(program.checkpoints, "checkpoint")}`],
            ["Costliest proof of one number", `${grouped(program.largestStepProof.gas)} gas`],
            [
              "A dispute, at most",
              `${counted(program.dispute.transactions, "transaction")}, ${grouped(program.dispute.gas)} gas`,
            ],
            ["Memory", byteText(program.memory.total)],
          ]}
        />
      )}
      {isOpen && report.served && (
        <details>
          <summary>Compile it for other shapes</summary>
          <ShapeForm inputs={inputs} onShapes={onShapes} />
        </details>
      )}
      <div class="columns wide">
        <section class="stack-tight">
          <h3>Graph: {counted(graph.length, "node")} beside constants</h3>
          <GraphView graph={graph} />
        </section>
        {steps.length > 0 && (
          <section class="stack-tight">
            <h3>Program: {counted(steps.length, "step")}</h3>
            <StepList steps={steps} />
          </section>
        )}
      </div>
    </div>
  );
}

/** Reasons are written for the command line too: its flags say nothing to whoever clicks. */
const withoutFlags = (reason: string): string =>
  reason.replace(/,? ?(?:for example )?--(?:shape|dim) .*$/, "").replace(/ \(`?--[^)]*\)/g, "");

/** A shape to begin with: 1 where the model leaves a dimension open. */
const firstShape = (shape: string): string =>
  shape === "?"
    ? ""
    : shape
        .split(", ")
        .map((dim) => (/^\d+$/.test(dim) ? dim : "1"))
        .join(", ");

const dimensionsOf = (text: string): number[] =>
  text
    .split(/[,x ]+/)
    .filter((part) => part !== "")
    .map(Number);

function ShapeForm({ inputs, onShapes }: { inputs: readonly InputView[]; onShapes: (shapes: Shapes) => void }) {
  const open = inputs.filter(({ shape }) => /[^\d, ]/.test(shape));
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>(() =>
    Object.fromEntries(open.map(({ name, shape }) => [name, firstShape(shape)])),
  );
  const submit = (event: Event): void => {
    event.preventDefault();
    const given = Object.entries(texts).filter(([, text]) => text.trim() !== "");
    onShapes(Object.fromEntries(given.map(([name, text]) => [name, dimensionsOf(text)])));
  };
  return (
    <form class="card stack" onSubmit={submit}>
      <p class="soft">The model leaves these shapes open: a program is compiled for given ones.</p>
      <div class="columns">
        {open.map(({ name, shape, dtype }) => (
          <label key={name} class="field">
            <span>
              {shown(name, 60)}, {dtype}, {shown(shape, 80)}
            </span>
            <input
              name="shape"
              class="mono"
              required
              value={texts[name]}
              placeholder="1, 3, 48, 192"
              pattern="[0-9][0-9, x]*"
              onInput={(event) => setTexts({ ...texts, [name]: event.currentTarget.value })}
            />
          </label>
        ))}
      </div>
      <div>
        <button class="button main" type="submit">
          Compile
        </button>
      </div>
    </form>
  );
}

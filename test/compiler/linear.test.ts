import { expect } from "chai";
import { Budget } from "../../src/compiler/budget.ts";
import { compileWithin } from "../../src/compiler/compile.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import { LONG_GRAPHS } from "../../testkit/models/longGraphs.ts";

const [FEW, MANY] = [150, 600];

/** Counts what a compilation asks of its budget. */
class Work extends Budget {
  expressions = 0;
  ticks = 0;
  elements = 0;

  override expression(): void {
    this.expressions++;
    super.expression();
  }

  override tick(): void {
    this.ticks++;
    super.tick();
  }

  override moveElements(count: number): void {
    this.elements += count;
    super.moveElements(count);
  }
}

function workOf(bytes: Uint8Array) {
  const work = new Work();
  const { program } = compileWithin(readModel(bytes), { shapes: {} }, work);
  const { expressions, ticks, elements } = work;
  return { expressions, ticks, elements, steps: program.steps.length };
}

describe("the work of compiling", function () {
  this.timeout(60_000);

  for (const [name, make] of Object.entries(LONG_GRAPHS))
    it(`${name}_growsNoFasterThanTheGraph`, () => {
      const [few, many] = [workOf(make(FEW)), workOf(make(MANY))];
      for (const kind of Object.keys(few) as (keyof typeof few)[])
        expect(many[kind], kind).to.be.at.most(1.1 * few[kind] * (MANY / FEW));
    });
});

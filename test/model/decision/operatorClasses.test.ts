import { expect } from "chai";
import { MICROSOFT_REGISTRY } from "../../../src/compiler/operators/microsoft/registry.ts";
import { REGISTRY } from "../../../src/compiler/operators/registry.ts";
import { operatorClass } from "../../../src/model/decision/operatorClasses.ts";

describe("operatorClass", () => {
  it("eachOperatorThatIsExecuted_hasAClass", () => {
    const without = [...REGISTRY, ...MICROSOFT_REGISTRY].filter(({ operator, domain }) => {
      const node = { name: "", operator, domain, inputs: [], outputs: [], attributes: new Map() };
      const of = operatorClass(node);
      return of.kind === "unread" && of.why === "is not looked into";
    });
    expect(without.map(({ operator, domain }) => `${domain}.${operator}`)).to.deep.equal([]);
  });
});

import { expect } from "chai";
import { operatorClass } from "../../../src/compiler/decisions/operatorClass.ts";
import { operatorKey, OPERATORS } from "../../../src/compiler/table/registry.ts";

describe("operatorClass", () => {
  it("eachOperatorThatIsExecuted_hasAClass", () => {
    const executed = OPERATORS.filter(
      ({ domain, use }) => ["", "com.microsoft", "ai.onnx.ml"].includes(domain) && use !== "bodies",
    );
    const without = executed.filter(({ operator, domain }) => {
      const node = { name: "", operator, domain, inputs: [], outputs: [], attributes: new Map() };
      const of = operatorClass(node);
      return of.kind === "unread" && of.why === "is not looked into";
    });
    expect(without.map(operatorKey)).to.deep.equal([]);
  });
});

import { NOT_LOOKED_INTO, WHOLE, type OperatorClass } from "../../model/decision/operatorClass.ts";
import type { Node } from "../../model/onnx/model.ts";
import { findRow } from "../table/registry.ts";

/** The class of a node's operator. An operator without a row is not looked into. */
export function operatorClass(node: Node): OperatorClass {
  const of = findRow(node)?.decision ?? NOT_LOOKED_INTO;
  const reduction = node.attributes.get("reduction");
  const reduces = of.kind === "movement" && of.reduces === true;
  return reduces && reduction?.kind === "string" && reduction.value !== "none" ? WHOLE : of;
}

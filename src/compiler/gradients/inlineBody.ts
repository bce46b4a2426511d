import type { Body } from "../../model/onnx/model.ts";
import { renamed } from "../../model/onnx/names.ts";
import type { NodeList } from "../nodes.ts";

/**
 * Writes a body's nodes once into the surrounding graph, with new names for all values.
 * @returns the names of the body's outputs
 */
export function inlineBody(n: NodeList, body: Body, inputs: readonly string[]): string[] {
  const names = new Map(body.inputs.map((name, k) => [name, inputs[k]!] as const));
  for (const [name, tensor] of body.initializers) if (!names.has(name)) names.set(name, n.constant(tensor));
  for (const node of body.nodes) {
    const own = renamed(node, names);
    const outputs = node.outputs.map((name) => (name === "" ? "" : n.fresh(node.operator)));
    node.outputs.forEach((name, k) => name !== "" && names.set(name, outputs[k]!));
    n.nodes.push({ ...node, ...own, name: outputs.find((name) => name !== "") ?? node.name, outputs });
  }
  return body.outputs.map((name) => names.get(name) ?? name);
}

/** Models of a few operators with changes of structure: edges, names, types, shapes, orders, bodies and attributes. */
import { clone, create, fromBinary, toBinary, toJsonString } from "@bufbuild/protobuf";
import {
  AttributeProto_AttributeType as AttributeType,
  AttributeProtoSchema,
  GraphProtoSchema,
  ModelProtoSchema,
  NodeProtoSchema,
  TensorProtoSchema,
  TensorShapeProto_DimensionSchema,
  TensorShapeProtoSchema,
  ValueInfoProtoSchema,
  type AttributeProto,
  type GraphProto,
  type ModelProto,
  type NodeProto,
  type ValueInfoProto,
} from "onnx-buf";
import { compile } from "../../src/compiler/compile.ts";
import type { Attribute } from "../../src/model/onnx/model.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import { modelOf, type Experiment } from "../onnx/agreement.ts";
import { Prng } from "../random/prng.ts";
import { RandomTensors } from "../random/tensors.ts";
import { MAKERS } from "./hostile.ts";

type Mutation = (graph: GraphProto, prng: Prng, model: ModelProto) => void;

const WORDS = ["", "NOTSET", "SAME_LOWER", "VALID", "wrap", "cubic", "sum", "tanh", "ij,jk->ik", "...", "->", "\u0000"];
const WHOLE = [
  0n,
  1n,
  -1n,
  2n,
  -2n,
  3n,
  7n,
  1000n,
  2n ** 31n,
  -(2n ** 31n),
  2n ** 53n + 1n,
  2n ** 63n - 1n,
  -(2n ** 63n),
];
const REALS = [0, -0, 1, -1, 0.5, 1e-45, 3e38, NaN, Infinity, -Infinity];
const SIZES = [0n, 1n, 2n, 3n, 5n, -1n, 2n ** 16n, 2n ** 31n, 2n ** 40n, 2n ** 62n];

/** A hostile value of an attribute: negative, huge, empty, or of another kind. */
function hostileAttribute(name: string, prng: Prng, given?: AttributeProto): AttributeProto {
  const make = (type: AttributeType, fields: object): AttributeProto =>
    create(AttributeProtoSchema, { name, type, ...fields });
  const list = <T>(choices: readonly T[]): T[] => Array.from({ length: prng.below(6) }, () => prng.pick(choices));
  const bytes = (word: string): Uint8Array => new TextEncoder().encode(word);
  const type: AttributeType = given !== undefined && prng.below(4) > 0 ? given.type : 1 + prng.below(14);
  if (type === AttributeType.INT) return make(type, { i: prng.pick(WHOLE) });
  if (type === AttributeType.FLOAT) return make(type, { f: prng.pick(REALS) });
  if (type === AttributeType.STRING) return make(type, { s: bytes(prng.pick(WORDS)) });
  if (type === AttributeType.STRINGS) return make(type, { strings: list(WORDS).map(bytes) });
  if (type === AttributeType.FLOATS) return make(type, { floats: list(REALS) });
  if (type === AttributeType.TENSOR) return make(type, { t: hostileTensor(prng) });
  if (type === AttributeType.TENSORS) return make(type, { tensors: [hostileTensor(prng)] });
  if (type === AttributeType.GRAPH) return make(type, { g: create(GraphProtoSchema, { name: "g" }) });
  if (type !== AttributeType.INTS) return make(type, {});
  const length = given?.ints.length ?? 0;
  const ints = given?.ints.map((one) => (prng.below(2) === 0 ? prng.pick(WHOLE) : one)) ?? [];
  return make(type, { ints: prng.below(2) === 0 ? ints : list(WHOLE).slice(0, length + 2) });
}

/** A tensor of any type and shape, whose data may not fit. */
function hostileTensor(prng: Prng) {
  const dims = Array.from({ length: prng.below(3) }, () => prng.pick(SIZES));
  const rawData = Uint8Array.from({ length: 4 * prng.below(5) }, () => prng.below(256));
  return create(TensorProtoSchema, { dataType: prng.below(25), dims, rawData });
}

const outputsOf = (graph: GraphProto): string[] => graph.node.flatMap(({ output }) => output);

/** All names in a graph, with some names missing from the graph. */
const namesOf = (graph: GraphProto): string[] => [
  ...graph.input.map(({ name }) => name),
  ...graph.initializer.map(({ name }) => name),
  ...outputsOf(graph),
  "",
  "unknown",
];

const changed = <T>(list: T[], prng: Prng, change: (one: T) => T | T[]): void => {
  if (list.length === 0) return;
  const at = prng.below(list.length);
  list.splice(at, 1, ...([change(list[at]!)].flat() as T[]));
};

const typed = (info: ValueInfoProto) => (info.type?.value.case === "tensorType" ? info.type.value.value : undefined);

const moved = <T>(list: T[], prng: Prng): void => {
  if (list.length > 0) list.splice(prng.below(list.length), 0, ...list.splice(prng.below(list.length), 1));
};

/** Puts a node into a body: of an If with that node in both branches, or of a Loop of one iteration. */
function enclosed(node: NodeProto, prng: Prng): NodeProto[] {
  const inner = node.output.map((name) => (prng.below(2) === 0 ? name : `${name}_inner`));
  const output = inner.map((name) => create(ValueInfoProtoSchema, { name }));
  const body = create(GraphProtoSchema, { name: "body", node: [{ ...node, output: inner }], output });
  const attribute = (name: string, g: GraphProto): AttributeProto =>
    create(AttributeProtoSchema, { name, type: AttributeType.GRAPH, g });
  const flag = create(NodeProtoSchema, {
    opType: "Constant",
    output: ["flag"],
    attribute: [
      create(AttributeProtoSchema, {
        name: "value",
        type: AttributeType.TENSOR,
        t: create(TensorProtoSchema, { dataType: 9, rawData: Uint8Array.of(prng.below(2)) }),
      }),
    ],
  });
  if (prng.below(2) === 0) {
    const attributes = [attribute("then_branch", body), attribute("else_branch", clone(GraphProtoSchema, body))];
    return [
      flag,
      create(NodeProtoSchema, { opType: "If", input: ["flag"], output: node.output, attribute: attributes }),
    ];
  }
  const loop = clone(GraphProtoSchema, body);
  loop.input = ["i", "go"].map((name) => create(ValueInfoProtoSchema, { name }));
  loop.output.unshift(create(ValueInfoProtoSchema, { name: prng.pick(["go", "flag"]) }));
  const input = [prng.pick(["", "flag"]), "flag"];
  return [
    flag,
    create(NodeProtoSchema, { opType: "Loop", input, output: node.output, attribute: [attribute("body", loop)] }),
  ];
}

const MUTATIONS: readonly Mutation[] = [
  // Edges: any value, none, or one that comes later.
  (graph, prng) =>
    changed(graph.node, prng, (node) => {
      const names = namesOf(graph);
      changed(node.input, prng, () => prng.pick(names));
      return node;
    }),
  (graph, prng) =>
    changed(graph.node, prng, (node) => {
      changed(node.input, prng, () => []);
      return node;
    }),
  (graph, prng) =>
    changed(graph.node, prng, (node) => {
      node.input.push(prng.pick(namesOf(graph)));
      return node;
    }),
  // Names: repeated, empty, or those of inputs and initializers.
  (graph, prng) =>
    changed(graph.node, prng, (node) => {
      const names = namesOf(graph);
      changed(node.output, prng, () => prng.pick(names));
      return node;
    }),
  (graph, prng) =>
    changed(graph.node, prng, (node) => {
      node.output.push(prng.pick(["more", ...namesOf(graph)]));
      return node;
    }),
  (graph, prng) =>
    changed(graph.input, prng, (info) => {
      info.name = prng.pick(namesOf(graph));
      return info;
    }),
  (graph, prng) =>
    changed(graph.initializer, prng, (tensor) => {
      tensor.name = prng.pick(namesOf(graph));
      return tensor;
    }),
  // Orders, and repeated or missing parts.
  (graph, prng) => moved(graph.node, prng),
  (graph, prng) => moved(graph.input, prng),
  (graph, prng) => changed(graph.node, prng, (node) => [node, clone(NodeProtoSchema, node)]),
  (graph, prng) => changed(graph.node, prng, () => []),
  (graph, prng) => changed(graph.input, prng, (info) => prng.pick([[], [info, clone(ValueInfoProtoSchema, info)]])),
  (graph, prng) => changed(graph.initializer, prng, (one) => prng.pick([[], [one, clone(TensorProtoSchema, one)]])),
  (graph, prng) => changed(graph.output, prng, (info) => prng.pick([[], [info, clone(ValueInfoProtoSchema, info)]])),
  // Outputs: inputs, initializers and inner values; with the wrong type or none.
  (graph, prng) =>
    changed(graph.output, prng, (info) => [
      info,
      create(ValueInfoProtoSchema, {
        name: prng.pick(namesOf(graph)),
        ...(prng.below(2) === 0 ? {} : { type: info.type }),
      }),
    ]),
  (graph, prng) =>
    changed(graph.output, prng, (info) => create(ValueInfoProtoSchema, { ...info, name: prng.pick(namesOf(graph)) })),
  (graph, prng) =>
    changed(prng.pick([graph.output, graph.input]), prng, ({ name }) => create(ValueInfoProtoSchema, { name })),
  // Types and shapes.
  (graph, prng) =>
    changed(prng.pick([graph.output, graph.input]), prng, (info) => {
      const tensor = typed(info);
      if (tensor !== undefined) tensor.elemType = prng.below(25);
      return info;
    }),
  (graph, prng) =>
    changed(prng.pick([graph.output, graph.input]), prng, (info) => {
      const tensor = typed(info);
      const dim = () =>
        create(TensorShapeProto_DimensionSchema, {
          value:
            prng.below(4) > 0
              ? { case: "dimValue", value: prng.pick(SIZES) }
              : { case: "dimParam", value: prng.pick(["", "n"]) },
        });
      if (tensor?.shape !== undefined && prng.below(2) === 0) changed(tensor.shape.dim, prng, dim);
      else if (tensor !== undefined)
        tensor.shape = create(TensorShapeProtoSchema, { dim: Array.from({ length: prng.below(5) }, dim) });
      return info;
    }),
  (graph, prng) =>
    changed(graph.initializer, prng, (tensor) => {
      if (prng.below(2) === 0) tensor.dataType = prng.below(25);
      else changed(tensor.dims, prng, () => prng.pick(SIZES));
      return tensor;
    }),
  (graph, prng) =>
    changed(graph.initializer, prng, ({ name }) => create(TensorProtoSchema, { ...hostileTensor(prng), name })),
  // An initializer that is an input too; an input that is a list or nothing known.
  (graph, prng) =>
    graph.initializer.forEach(({ name }) => {
      if (prng.below(2) === 0) graph.input.push(create(ValueInfoProtoSchema, { name }));
    }),
  // Attributes: hostile, foreign, repeated, missing.
  ...Array.from(
    { length: 4 },
    (): Mutation => (graph, prng) =>
      changed(graph.node, prng, (node) => {
        changed(node.attribute, prng, (given) => hostileAttribute(given.name, prng, given));
        return node;
      }),
  ),
  (graph, prng) =>
    changed(graph.node, prng, (node) => {
      changed(node.attribute, prng, (given) => prng.pick([[], [given, given]]));
      return node;
    }),
  (graph, prng) =>
    changed(graph.node, prng, (node) => {
      node.attribute.push(...prng.pick(graph.node).attribute);
      return node;
    }),
  // Operators, operator sets and bodies.
  (graph, prng) =>
    changed(graph.node, prng, (node) => {
      const other = prng.pick(graph.node);
      return create(NodeProtoSchema, { ...node, opType: other.opType, domain: other.domain });
    }),
  (graph, prng) =>
    changed(graph.node, prng, (node) => {
      node.opType = prng.pick([
        "Identity",
        "Constant",
        "If",
        "Loop",
        "Scan",
        "SequenceAt",
        "SequenceConstruct",
        "Optional",
        "Shape",
      ]);
      return node;
    }),
  (graph, prng) => changed(graph.node, prng, (node) => enclosed(node, prng)),
  (_, prng, model) =>
    changed(model.opsetImport, prng, (one) => {
      one.version = BigInt(1 + prng.below(27));
      return one;
    }),
];

/** All graphs of a model: its own and those of bodies. */
function graphsOf(graph: GraphProto): GraphProto[] {
  const bodies = graph.node.flatMap(({ attribute }) => attribute.flatMap(({ g }) => (g === undefined ? [] : [g])));
  return [graph, ...bodies.flatMap(graphsOf)];
}

/** One to three experiments in one graph; some read what the ones before computed. */
function chained(prng: Prng): Experiment {
  let all = prng.pick(MAKERS)(new RandomTensors(prng));
  for (let more = prng.below(3); more > 0; more--) {
    const next = prng.pick(MAKERS)(new RandomTensors(prng));
    const values = all.nodes.flatMap(({ outputs }) => outputs);
    const links = new Map(
      Object.keys(next.operands).flatMap((name) => (prng.below(2) === 0 ? [[name, prng.pick(values)] as const] : [])),
    );
    const own = (name: string): string => (name === "" ? "" : (links.get(name) ?? `${name}_${more}`));
    const keys = <T>(given: Readonly<Record<string, T>>): Record<string, T> =>
      Object.fromEntries(Object.entries(given).flatMap(([name, one]) => (links.has(name) ? [] : [[own(name), one]])));
    all = {
      opset: Math.max(all.opset ?? 17, next.opset ?? 17),
      imports: { ...all.imports, ...next.imports },
      operands: { ...all.operands, ...keys(next.operands) },
      initializers: { ...all.initializers, ...keys(next.initializers ?? {}) },
      nodes: [
        ...all.nodes,
        ...next.nodes.map((node) => ({ ...node, inputs: node.inputs.map(own), outputs: node.outputs.map(own) })),
      ],
      functions: [...(all.functions ?? []), ...(next.functions ?? [])],
      outputs: { ...all.outputs, ...keys(next.outputs) },
    };
  }
  return all;
}

/** Returns a model of a few operators with up to five changes of structure. The same seed gives the same model. */
export function restructuredModel(seed: number): Uint8Array {
  const prng = new Prng(seed);
  const model = fromBinary(ModelProtoSchema, modelOf(chained(prng)));
  for (let changes = prng.below(6); changes > 0; changes--)
    prng.pick(MUTATIONS)(prng.pick(graphsOf(model.graph!)), prng, model);
  return toBinary(ModelProtoSchema, model);
}

/** The attributes of a node, remembering which an operator asks for. */
class Asked extends Map<string, Attribute> {
  readonly names = new Set(this.keys());
  override get(name: string): Attribute | undefined {
    this.names.add(name);
    return super.get(name);
  }
}

/**
 * Yields models of each operator in which one of the attributes that the operator has or reads is hostile.
 * @param times How often each attribute of each experiment is tried
 */
export function* hostileAttributes(times: number, seed: number): Generator<{ what: string; bytes: Uint8Array }> {
  for (const [number, make] of MAKERS.entries()) {
    const prng = new Prng(seed + number);
    const bytes = modelOf(make(new RandomTensors(prng)));
    const model = readModel(bytes);
    const nodes = model.graph.nodes.map((node) => ({ ...node, attributes: new Asked(node.attributes) }));
    compile({ ...model, graph: { ...model.graph, nodes } }, { shapes: {}, seed: 1n });
    for (const [n, { attributes, operator }] of nodes.entries())
      for (const name of attributes.names)
        for (let time = 0; time < times; time++) {
          const proto = fromBinary(ModelProtoSchema, bytes);
          const { attribute } = proto.graph!.node[n]!;
          const at = attribute.findIndex((given) => given.name === name);
          const value = hostileAttribute(name, prng, attribute[at]);
          attribute.splice(at < 0 ? 0 : at, at < 0 ? 0 : 1, value);
          yield {
            what: `${operator}, ${name}: ${toJsonString(AttributeProtoSchema, value)}`,
            bytes: toBinary(ModelProtoSchema, proto),
          };
        }
  }
}

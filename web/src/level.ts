// What the graph shows of a group: its items, what comes in, what goes out, and the states.

import { isGroup, leaves, type Group, type Item } from "./groups";
import { consumers, type Leaf, type Port, type Scope } from "./scope";

/** Ports of one side that are drawn one by one. */
const PORTS = 8;
/** States with the same readers and writers that are drawn one by one. */
const STATES = 4;

export interface GraphNode {
  id: string;
  kind: string;
  title: string;
  sub: string;
  item: Item | null;
}

export interface GraphEdge {
  from: string;
  to: string;
  labels: Set<string>;
  state: boolean;
}

export interface Level {
  nodes: GraphNode[];
  edges: GraphEdge[];
}

export function level(scope: Scope, group: Group): Level {
  return new Builder(scope, group).level();
}

class Builder {
  private nodes = new Map<string, GraphNode>();
  private edges = new Map<string, GraphEdge>();
  private owner = new Map<number, string>();
  private incoming: { port: GraphNode; to: string; label: string }[] = [];
  private outgoing: { port: GraphNode; from: string; label: string }[] = [];

  constructor(
    private scope: Scope,
    private group: Group,
  ) {}

  level(): Level {
    this.group.children.forEach((item, i) => this.item(item, `item-${i}`));
    const inside = leaves(this.group);
    const uses = consumers(this.scope);
    for (const leaf of inside) {
      this.reads(leaf);
      for (const { to, use } of uses[leaf.at] ?? []) this.leaving(leaf, to, use.type);
    }
    this.outputs();
    this.ports();
    this.states(inside);
    return { nodes: [...this.nodes.values()], edges: [...this.edges.values()] };
  }

  private item(item: Item, id: string): void {
    const node = isGroup(item) ? groupNode(item, id) : leafNode(item, id);
    this.nodes.set(id, node);
    for (const leaf of leaves(item)) this.owner.set(leaf.at, id);
  }

  private reads(leaf: Leaf): void {
    const to = this.owner.get(leaf.at)!;
    for (const use of leaf.reads) {
      const from = this.owner.get(use.from);
      if (from !== undefined) {
        if (from !== to) this.edge(from, to, use.type);
        continue;
      }
      const port = use.from < 0 ? this.input(use) : this.elsewhere("from", use.from);
      this.incoming.push({ port, to, label: use.type });
    }
  }

  private input(use: Port): GraphNode {
    return { id: `in-${use.key}`, kind: "port", title: use.label, sub: use.type, item: null };
  }

  private elsewhere(way: "from" | "to", at: number): GraphNode {
    const leaf = this.scope.leaves[at]!;
    const sub = `${this.scope.unit} ${at}`;
    return { id: `${way}-${at}`, kind: "port", title: `${way} ${leaf.label}`, sub, item: leaf };
  }

  private leaving(leaf: Leaf, to: number, type: string): void {
    if (this.owner.has(to)) return;
    const from = this.owner.get(leaf.at)!;
    this.outgoing.push({ port: this.elsewhere("to", to), from, label: type });
  }

  private outputs(): void {
    for (const output of this.scope.outputs) {
      const from = this.owner.get(output.from);
      if (from === undefined) continue;
      const port = { id: `out-${output.key}`, kind: "port", title: output.label, sub: output.type, item: null };
      this.outgoing.push({ port, from, label: output.type });
    }
  }

  private ports(): void {
    const into = merged(this.incoming, "values from before");
    const out = merged(this.outgoing, "values for later");
    for (const { port, to, label } of into) {
      this.nodes.set(port.id, port);
      this.edge(port.id, to, label);
    }
    for (const { port, from, label } of out) {
      this.nodes.set(port.id, port);
      this.edge(from, port.id, label);
    }
  }

  /** A state is read above and written below, but one node where a single item does both. */
  private states(inside: Leaf[]): void {
    const alike = new Map<string, StateUse>();
    for (const use of stateUses(inside, this.owner)) {
      const key = JSON.stringify([use.way, [...use.readers].sort(), [...use.writers].sort()]);
      const found = alike.get(key);
      if (found) found.names.push(...use.names);
      else alike.set(key, use);
    }
    for (const use of alike.values()) this.state(use);
  }

  /** States that the same items use are one node where they are many. */
  private state({ names, way, readers, writers }: StateUse): void {
    const groups = names.length > STATES ? [names] : names.map((name) => [name]);
    for (const group of groups) {
      const id = this.stateNode(group, way);
      for (const item of readers) this.edge(id, item, "", true);
      for (const item of writers) this.edge(item, id, "", true);
    }
  }

  private stateNode(names: string[], way: string): string {
    const id = `state-${way}-${names[0]}`;
    const found = this.scope.states.find((state) => state.key === names[0]);
    const several = names.length > 1;
    const title = several ? `${names.length} states` : names[0]!;
    const sub = several ? `${names[0]} … ${names.at(-1)}` : (found?.type ?? "");
    this.nodes.set(id, { id, kind: "state", title: way ? `${title} (${way})` : title, sub, item: null });
    return id;
  }

  private edge(from: string, to: string, label: string, state = false): void {
    const key = JSON.stringify([from, to, state]);
    const found = this.edges.get(key) ?? { from, to, labels: new Set<string>(), state };
    if (label) found.labels.add(label);
    this.edges.set(key, found);
  }
}

interface StateUse {
  names: string[];
  way: "" | "read" | "written";
  readers: Set<string>;
  writers: Set<string>;
}

function stateUses(inside: Leaf[], owner: Map<number, string>): StateUse[] {
  const found = new Map<string, StateUse>();
  const use = (name: string) => {
    const made = found.get(name) ?? { names: [name], way: "", readers: new Set(), writers: new Set() };
    found.set(name, made);
    return made;
  };
  for (const leaf of inside) {
    const item = owner.get(leaf.at)!;
    for (const name of leaf.stateReads) use(name).readers.add(item);
    for (const name of leaf.stateWrites) use(name).writers.add(item);
  }
  return [...found.values()].flatMap(apart);
}

function apart(use: StateUse): StateUse[] {
  const { names, readers, writers } = use;
  if (new Set([...readers, ...writers]).size === 1) return [use];
  const read: StateUse = { names: [...names], way: "read", readers, writers: new Set() };
  const written: StateUse = { names: [...names], way: "written", readers: new Set(), writers };
  return [read, written].filter((one) => one.readers.size || one.writers.size);
}

/** Too many ports are one. */
function merged<T extends { port: GraphNode }>(ports: T[], what: string): T[] {
  const ids = new Set(ports.map(({ port }) => port.id));
  if (ids.size <= PORTS) return ports;
  const port = { id: what, kind: "port", title: `${ids.size} ${what}`, sub: "", item: null };
  return ports.map((one) => ({ ...one, port }));
}

function groupNode(group: Group, id: string): GraphNode {
  return { id, kind: "group", title: group.title, sub: group.sub, item: group };
}

function leafNode(leaf: Leaf, id: string): GraphNode {
  const sub = leaf.note || leaf.writes.map((one) => one.type).join(", ");
  const kind = leaf.kind === "state" ? "access" : leaf.kind;
  return { id, kind, title: leaf.label, sub, item: leaf };
}

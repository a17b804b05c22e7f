// The fields of an object that a source selects. They are written as JSON straight from the report, without an object between.

import type { ObjectShape, ReportField } from './report-fields.ts';

type Write<R> = (report: R) => string;
type Tree<R> = Map<string, Tree<R> | ReportField<R>>;

/** A selection of fields. It is compiled when it is used for the first time. */
export class Selection<R> {
  /** Names of fields, or prefixes such as `http.request`, each once and sorted. An empty list selects all fields. */
  readonly fields: readonly string[];
  readonly #shape: ObjectShape<R>;
  #write: Write<R> | undefined;

  constructor(shape: ObjectShape<R>, fields: readonly string[]) {
    this.#shape = shape;
    this.fields = fields;
  }

  /** The object in JSON, with its fields in the order of the shape, not of the selection. */
  write(report: R): string {
    this.#write ??= writeTree(this.#tree(), '', this.#shape.nullable);
    return this.#write(report);
  }

  #tree(): Tree<R> {
    const root: Tree<R> = new Map();
    for (const [path, field] of Object.entries(this.#shape.fields)) {
      if (!this.#selects(path)) continue;
      const names = path.split('.');
      const last = names.pop() as string;
      let tree = root;
      for (const name of names) {
        const inner = (tree.get(name) as Tree<R> | undefined) ?? new Map();
        tree.set(name, inner);
        tree = inner;
      }
      tree.set(last, field);
    }
    return root;
  }

  #selects(path: string): boolean {
    return this.fields.length === 0 || this.fields.some((field) => path === field || path.startsWith(`${field}.`));
  }
}

/** @param path the path of the tree with a point at its end; '' for the whole object. */
function writeTree<R>(tree: Tree<R>, path: string, nullable: ObjectShape<R>['nullable']): Write<R> {
  const steps = Array.from(tree, ([name, inner], index) => ({
    before: `${index === 0 ? '{' : ','}${JSON.stringify(name)}:`,
    write: inner instanceof Map ? writeInner(inner, path + name, nullable) : inner.write,
  }));
  if (steps.length === 0) return () => '{}';
  return (report) => {
    let text = '';
    for (const step of steps) text += step.before + step.write(report);
    return `${text}}`;
  };
}

function writeInner<R>(tree: Tree<R>, path: string, nullable: ObjectShape<R>['nullable']): Write<R> {
  const write = writeTree(tree, `${path}.`, nullable);
  const isReported = nullable[path];
  return isReported ? (report) => (isReported(report) ? write(report) : 'null') : write;
}

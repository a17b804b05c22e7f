// Which members of the object are delivered. What is selected is written at once: no object is made of a report.

import type { ObjectShape, ReportField } from './report-fields.ts';

type Write<R> = (report: R) => string;
type Tree<R> = Map<string, Tree<R> | ReportField<R>>;

/** A choice of members, compiled when it is used for the first time. */
export class Selection<R> {
  /** The members, or prefixes such as `http.request`, each once and sorted; none is all. */
  readonly fields: readonly string[];
  readonly #shape: ObjectShape<R>;
  #write: Write<R> | undefined;

  constructor(shape: ObjectShape<R>, fields: readonly string[]) {
    this.#shape = shape;
    this.fields = fields;
  }

  /** The object in JSON, its members in the order of the shape whatever the order they were selected in. */
  write(report: R): string {
    this.#write ??= writeTree(this.#tree(), '', this.#shape.nullable);
    return this.#write(report);
  }

  #tree(): Tree<R> {
    const root: Tree<R> = new Map();
    for (const [path, member] of Object.entries(this.#shape.fields)) {
      if (!this.#selects(path)) continue;
      const names = path.split('.');
      const last = names.pop() as string;
      let tree = root;
      for (const name of names) {
        const inner = (tree.get(name) as Tree<R> | undefined) ?? new Map();
        tree.set(name, inner);
        tree = inner;
      }
      tree.set(last, member);
    }
    return root;
  }

  #selects(path: string): boolean {
    return this.fields.length === 0 || this.fields.some((field) => path === field || path.startsWith(`${field}.`));
  }
}

/** @param path of the tree, with a point behind it; '' for the whole object. */
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
  const isTold = nullable[path];
  return isTold ? (report) => (isTold(report) ? write(report) : 'null') : write;
}

// The fields of an object that a source selects. They are written as JSON straight from the report, without an object between.

import type { IsReported, ObjectShape, ReportField } from './report-fields.ts';

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
    this.#write ??= writeSteps(new StepList(this.#tree(), this.#shape.nullable).steps);
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

/** One value of the object, with all that stands between the value before it and this one. */
interface Step<R> {
  before: string;
  /** Undefined at the end of the object, and where an inner object begins that may be null. */
  write: Write<R> | undefined;
  /** Of an inner object that may be null: whether it is there. */
  isReported: IsReported<R> | undefined;
  /** Of an inner object that may be null: the step behind it. */
  next: number;
}

/** Writes an object from a list of steps: one loop, in which each text is added once. */
function writeSteps<R>(steps: readonly Step<R>[]): Write<R> {
  return (report) => {
    let text = '';
    for (let i = 0; i < steps.length; i++) {
      const { before, write, isReported, next } = steps[i] as Step<R>;
      if (write) text += before + write(report);
      else if (!isReported || isReported(report)) text += before;
      else {
        text += `${before}null`;
        i = next - 1;
      }
    }
    return text;
  };
}

class StepList<R> {
  readonly steps: Step<R>[] = [];
  readonly #nullable: ObjectShape<R>['nullable'];
  /** What is written before the next value. */
  #before = '';

  constructor(tree: Tree<R>, nullable: ObjectShape<R>['nullable']) {
    this.#nullable = nullable;
    this.#addTree(tree, '');
    this.#end();
  }

  /** @param path of the tree, with a point at its end; '' for the whole object. */
  #addTree(tree: Tree<R>, path: string): void {
    this.#before += '{';
    for (const [index, [name, inner]] of [...tree].entries()) {
      this.#before += `${index === 0 ? '' : ','}${JSON.stringify(name)}:`;
      if (inner instanceof Map) this.#addInner(inner, path + name);
      else this.#add(inner.write, undefined);
    }
    this.#before += '}';
  }

  #addInner(tree: Tree<R>, path: string): void {
    const isReported = this.#nullable[path];
    const start = isReported && this.#add(undefined, isReported);
    this.#addTree(tree, `${path}.`);
    if (!start) return;
    this.#end();
    start.next = this.steps.length;
  }

  #end(): void {
    this.#add(undefined, undefined);
  }

  #add(write: Write<R> | undefined, isReported: IsReported<R> | undefined): Step<R> {
    const step = { before: this.#before, write, isReported, next: 0 };
    this.steps.push(step);
    this.#before = '';
    return step;
  }
}

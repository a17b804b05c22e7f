// What expressions and templates are once they are compiled.

import type { CelInput } from '@bufbuild/cel';
import type { Bindings } from './vocabulary.ts';

/** A text with `${…}` in it, compiled. */
export interface Template {
  readonly text: string;
  /** The text itself, where nothing is in it that has to be computed. */
  readonly constant: string | undefined;
  /** The variables that it reads, by their whole names. */
  readonly variables: ReadonlySet<string>;
  evaluate(bindings: Bindings): string;
  /** What is exactly one `${…}` keeps its type; everything else is a text. */
  evaluateValue(bindings: Bindings): CelInput;
}

/** How what is computed is put into a template: as it is, or on one line. */
export type TemplateStyle = 'plain' | 'header';

export interface Expression {
  readonly text: string;
  /** The variables that it reads, by their whole names: `req.url.path`. */
  readonly variables: ReadonlySet<string>;
  evaluate(bindings: Bindings): CelInput;
}

// The language of policies: what others use of it.

export { CelError, type CelErrorCode, CelFailure } from './errors.ts';
export { type Compiled, type Condition, compileCondition, compileExpression } from './expression.ts';
export { compileTemplate } from './template.ts';

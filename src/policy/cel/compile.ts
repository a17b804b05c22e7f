// The language of policies: what others use of it.

export { CelError, type CelErrorCode, CelFailure } from './errors.ts';
export {
  type CelCondition as Condition,
  type CompiledExpression as Compiled,
  compileCondition,
  compileExpression,
} from './expression.ts';
export { compileTemplate } from './template.ts';

// One operation of a valid document, made ready to run.

import {
  type DocumentNode,
  type ExecutionResult,
  execute,
  type FieldNode,
  GraphQLError,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  isInputObjectType,
  Kind,
  type OperationDefinitionNode,
  typeFromAST,
  type ValueNode,
  visit,
} from 'graphql';
import { type CompiledQuery, compileQuery, isCompiledQuery } from 'graphql-jit';
import { isHeavyField } from '../builder/field-cost.ts';
import { callsExternalService } from '../builder/root-fields.ts';
import type { Context } from '../context.ts';
import type { InputPath } from '../errors/errors.ts';

/** Compiling costs milliseconds: only an operation that comes again is worth it. */
const USES_BEFORE_COMPILING = 3;

export interface OperationVariable {
  name: string;
  type: GraphQLInputType;
  hasDefault: boolean;
  /** Where the operation uses it first, from the argument of a field on. */
  place: InputPath;
}

/** One operation of a valid document. */
export interface PreparedOperation {
  definition: OperationDefinitionNode;
  document: DocumentNode;
  variables: OperationVariable[];
  /** The root fields with an `idempotencyKey`; anything but one such field, alone, is refused. */
  keyedFields: FieldNode[];
  /** Whether a field of it weighs so much that an account's are run a few at a time. */
  isHeavy: boolean;
  /** Whether its answers may show secrets beside what others wrote: those are not compressed. */
  holdsSecrets: boolean;
  /** Whether one of these waits for somebody else's answer: no transaction may be open meanwhile. */
  callsExternalService: boolean;
  run(variables: Record<string, unknown>, context: Context): Promise<ExecutionResult>;
}

/** @param isCompiled whether to compile it when it comes again. */
export function prepareOperation(
  schema: GraphQLSchema,
  document: DocumentNode,
  definition: OperationDefinitionNode,
  isCompiled = true,
): PreparedOperation {
  const places = variablePlaces(document, definition);
  const variables = (definition.variableDefinitions ?? []).flatMap(({ variable, type, defaultValue }) => {
    const name = variable.name.value;
    const inputType = typeFromAST(schema, type as never) as GraphQLInputType | undefined;
    const place = places.get(name) ?? [name]; // Of a directive, perhaps.
    return inputType ? [{ name, type: inputType, hasDefault: defaultValue !== undefined, place }] : [];
  });
  let mayCompile = isCompiled && !variables.some(({ type }) => containsItself(type));
  let uses = 0;
  let compiled: CompiledQuery | undefined;
  const keyed = keyedFields(document);
  const mutations = schema.getMutationType()?.getFields();
  return {
    definition,
    document,
    variables,
    keyedFields: keyed,
    isHeavy: hasHeavyField(schema, document),
    holdsSecrets: holdsSecrets(document, definition),
    callsExternalService: keyed.some(({ name }) => callsExternalService(mutations?.[name.value])),
    async run(variables, context) {
      if (mayCompile && ++uses >= USES_BEFORE_COMPILING) {
        mayCompile = false; // Once, whatever comes of it.
        const result = compileQuery(schema, document, definition.name?.value);
        if (isCompiledQuery(result)) compiled = result;
      }
      if (compiled) return withSources(await compiled.query({}, context, variables), document);
      return execute({
        schema,
        document,
        operationName: definition.name?.value,
        variableValues: variables,
        contextValue: context,
      }) as Promise<ExecutionResult>;
    },
  };
}

/** Where in the arguments of fields an operation uses its variables first. */
function variablePlaces(document: DocumentNode, definition: OperationDefinitionNode): Map<string, InputPath> {
  const places = new Map<string, InputPath>();
  const walked = new Set<object>();
  const walkValue = (value: ValueNode, place: InputPath): void => {
    if (value.kind === Kind.VARIABLE && !places.has(value.name.value)) places.set(value.name.value, place);
    else if (value.kind === Kind.LIST)
      for (const [index, item] of value.values.entries()) walkValue(item, [...place, index]);
    else if (value.kind === Kind.OBJECT)
      for (const { name, value: member } of value.fields) walkValue(member, [...place, name.value]);
  };
  const walk = (part: DocumentNode['definitions'][number]): void => {
    if (walked.has(part)) return;
    walked.add(part);
    visit(part, {
      Argument({ name, value }) {
        walkValue(value, [name.value]);
        return false;
      },
      Directive: () => false,
      FragmentSpread({ name }) {
        const isIt = (other: typeof part) => other.kind === Kind.FRAGMENT_DEFINITION && other.name.value === name.value;
        const fragment = document.definitions.find(isIt);
        if (fragment) walk(fragment);
      },
    });
  };
  walk(definition);
  return places;
}

/** Whether values of a type may contain others of it, as filters do: the compiler would write code for each level, without end. */
function containsItself(type: GraphQLInputType, within: readonly GraphQLInputType[] = []): boolean {
  const inner = getNamedType(type);
  if (!isInputObjectType(inner)) return false;
  if (within.includes(inner)) return true;
  return Object.values(inner.getFields()).some((field) => containsItself(field.type, [...within, inner]));
}

/** Errors of compiled documents name lines and columns alone: who makes other errors of them needs the source, too. */
function withSources(result: ExecutionResult, { loc }: DocumentNode): ExecutionResult {
  const source = loc?.source;
  if (!result.errors || !source) return result;
  const starts = [0, ...[...source.body.matchAll(/\r\n|[\n\r]/g)].map(({ 0: end, index }) => index + end.length)];
  const errors = result.errors.map((error) => {
    const { message, locations = [], path, originalError, extensions } = error;
    const positions = locations.map(({ line, column }) => (starts[line - 1] ?? 0) + column - 1);
    return new GraphQLError(message, { source, positions, path, originalError, extensions });
  });
  return { ...result, errors };
}

/**
 * The length of a compressed body tells of its contents (BREACH). Changes show tokens, and captured requests have the
 * credentials of visitors beside what others wrote.
 */
function holdsSecrets(document: DocumentNode, { operation }: OperationDefinitionNode): boolean {
  return operation !== 'query' || /capturedRequest/.test(document.loc?.source.body ?? '');
}

function keyedFields(document: DocumentNode): FieldNode[] {
  const found: FieldNode[] = [];
  visit(document, {
    Field(field) {
      if (field.arguments?.some(({ name }) => name.value === 'idempotencyKey')) found.push(field);
    },
  });
  return found;
}

/** Root fields may stand in fragments, too. */
function hasHeavyField(schema: GraphQLSchema, document: DocumentNode): boolean {
  const roots = [schema.getQueryType(), schema.getMutationType()];
  let isHeavy = false;
  visit(document, {
    Field({ name }) {
      if (roots.some((root) => isHeavyField(root?.getFields()[name.value]))) isHeavy = true;
    },
  });
  return isHeavy;
}

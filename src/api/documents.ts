// GraphQL documents, made ready to run. What is parsed, checked and compiled once is kept.

import {
  type DocumentNode,
  type ExecutionResult,
  execute,
  type FieldNode,
  GraphQLError,
  type GraphQLInputType,
  type GraphQLSchema,
  getOperationAST,
  type OperationDefinitionNode,
  parse,
  specifiedRules,
  typeFromAST,
  validate,
  visit,
} from 'graphql';
import { type CompiledQuery, compileQuery, isCompiledQuery } from 'graphql-jit';
import { LRUCache } from 'lru-cache';
import type { Context } from './context.ts';
import { TOKENS_MAX, withinLimits } from './limits.ts';

const DOCUMENTS_MAX = 1000;
/** Compiling costs milliseconds: only a document that comes again is worth it. */
const USES_BEFORE_COMPILING = 3;
const rules = [...specifiedRules, withinLimits];

export interface Variable {
  name: string;
  type: GraphQLInputType;
  hasDefault: boolean;
}

/** One operation of a valid document. */
export interface Operation {
  definition: OperationDefinitionNode;
  document: DocumentNode;
  variables: Variable[];
  /** The root fields with an `idempotencyKey`; anything but one such field, alone, is refused. */
  keyedFields: FieldNode[];
  /** Whether one of these waits for somebody else's answer: no transaction may be open meanwhile. */
  awaitsOthers: boolean;
  run(variables: Record<string, unknown>, context: Context): Promise<ExecutionResult>;
}

export type Prepared = { operation: Operation } | { errors: readonly GraphQLError[] };

/** Parses with a limit on tokens. @throws {GraphQLError} for a syntax error or too many tokens. */
export function parseDocument(source: string): DocumentNode {
  return parse(source, { maxTokens: TOKENS_MAX });
}

/** What is wrong with a document: GraphQL's own rules, and the limits on its size. */
export function validateDocument(schema: GraphQLSchema, document: DocumentNode): readonly GraphQLError[] {
  return validate(schema, document, rules, { maxErrors: 5 });
}

/** Documents by their text. One for the whole gateway. */
export class Documents {
  readonly #schema: GraphQLSchema;
  readonly #known = new LRUCache<string, Prepared>({ max: DOCUMENTS_MAX });

  constructor(schema: GraphQLSchema) {
    this.#schema = schema;
  }

  /** @param keep whether to remember it; strangers' documents must not push out those of clients. */
  prepare(source: string, operationName: string | null | undefined, keep: boolean): Prepared {
    const key = operationName ? `${operationName}\n${source}` : source;
    const known = this.#known.get(key);
    if (known) return known;
    const prepared = this.#prepare(source, operationName);
    if (keep) this.#known.set(key, prepared);
    return prepared;
  }

  #prepare(source: string, operationName: string | null | undefined): Prepared {
    try {
      const document = parseDocument(source);
      const errors = validateDocument(this.#schema, document);
      if (errors.length > 0) return { errors };
      const definition = getOperationAST(document, operationName);
      if (!definition) return { errors: [new GraphQLError('Say with operationName which of its operations to run')] };
      return { operation: prepareOperation(this.#schema, document, definition) };
    } catch (error) {
      if (error instanceof GraphQLError) return { errors: [error] };
      throw error;
    }
  }
}

export function prepareOperation(
  schema: GraphQLSchema,
  document: DocumentNode,
  definition: OperationDefinitionNode,
): Operation {
  let uses = 0;
  let compiled: CompiledQuery | undefined;
  const keyed = keyedFields(document);
  const mutations = schema.getMutationType()?.getFields();
  return {
    definition,
    document,
    variables: (definition.variableDefinitions ?? []).flatMap(({ variable, type, defaultValue }) => {
      const inputType = typeFromAST(schema, type as never) as GraphQLInputType | undefined;
      return inputType ? [{ name: variable.name.value, type: inputType, hasDefault: defaultValue !== undefined }] : [];
    }),
    keyedFields: keyed,
    awaitsOthers: keyed.some(({ name }) => mutations?.[name.value]?.extensions.awaitsOthers === true),
    async run(variables, context) {
      if (!compiled && ++uses >= USES_BEFORE_COMPILING) {
        const result = compileQuery(schema, document, definition.name?.value);
        if (isCompiledQuery(result)) compiled = result;
      }
      if (compiled) return compiled.query({}, context, variables) as Promise<ExecutionResult>;
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

function keyedFields(document: DocumentNode): FieldNode[] {
  const found: FieldNode[] = [];
  visit(document, {
    Field(field) {
      if (field.arguments?.some(({ name }) => name.value === 'idempotencyKey')) found.push(field);
    },
  });
  return found;
}

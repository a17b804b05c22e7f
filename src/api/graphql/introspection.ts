// The standard introspection, as GraphiQL and code generators send it. Its answers are kept, ready to be sent: anybody
// may ask, and as often as they like.

import {
  type DocumentNode,
  type ExecutionResult,
  executeSync,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getIntrospectionQuery,
  getNamedType,
  isObjectType,
  Kind,
  lexicographicSortSchema,
  type OperationDefinitionNode,
  parse,
  print,
  SchemaMetaFieldDef,
  type SelectionSetNode,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { type CachedBody, createCachedBody } from '../http/cached-body.ts';

/** Each is half a megabyte; there are 256 forms, and few are in use. */
const RESPONSES_MAX = 8;
/** The standard document has some 130 selections with its fragments written out. */
const STEPS_MAX = 500;
/** Types are wrapped three times at the most, `[T!]!`: who asks deeper gets the same answer. */
const TYPE_DEPTH = 4;

export interface IntrospectionResponse {
  result: ExecutionResult;
  /** The result as JSON, compressed and not: one copy for all who read it. */
  cachedBody: Promise<CachedBody>;
}

/** Answers the standard introspection, in all the forms that graphql-js makes and made of it. */
export class IntrospectionCache {
  readonly #schema: GraphQLSchema;
  /** The same as in schema.graphql, in its order; made when somebody asks. */
  #sorted: GraphQLSchema | undefined;
  readonly #responses = new LRUCache<string, IntrospectionResponse>({ max: RESPONSES_MAX });

  constructor(schema: GraphQLSchema) {
    this.#schema = schema;
  }

  /** @returns undefined when the document is another one. It need not have been validated. */
  responseTo(document: DocumentNode): IntrospectionResponse | undefined {
    const form = formOf(this.#schema, document);
    if (form === undefined) return undefined;
    const known = this.#responses.get(form);
    if (known) return known;
    const standard = standardWith(form);
    if (formOf(this.#schema, standard) !== form) return undefined;
    this.#sorted ??= lexicographicSortSchema(this.#schema);
    const result = executeSync({ schema: this.#sorted, document: standard });
    const response = { result, cachedBody: createCachedBody('application/json', Buffer.from(JSON.stringify(result))) };
    if (!result.errors) this.#responses.set(form, response);
    return response;
  }
}

/** The standard document with the options that a form shows. */
function standardWith(form: string): DocumentNode {
  const has = (text: string) => form.includes(text);
  const query = getIntrospectionQuery({
    descriptions: has('deprecationReason,description,'),
    schemaDescription: has('{__schema{description,'),
    specifiedByUrl: has('specifiedByURL'),
    directiveIsRepeatable: has('isRepeatable'),
    inputValueDeprecation: has('args(includeDeprecated:true)'),
    experimentalDirectiveDeprecation: has('directives(includeDeprecated:true)'),
    oneOf: has('isOneOf'),
  });
  // Older versions of graphql-js do not ask of what kind the roots are.
  return parse(has('queryType{kind,') ? query : query.replaceAll('Type { name kind }', 'Type { name }'));
}

/**
 * What a document asks for: its fields in the order of the alphabet, fragments written out.
 * @returns undefined for anything but one valid query of `__schema`, without variables, directives, aliases, and fields
 *   that stand twice.
 */
function formOf(schema: GraphQLSchema, { definitions }: DocumentNode): string | undefined {
  const fragments = new Map<string, FragmentDefinitionNode>();
  let operation: OperationDefinitionNode | undefined;
  for (const definition of definitions) {
    if (!('selectionSet' in definition) || definition.directives?.length || definition.variableDefinitions?.length)
      return undefined;
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
    else if (operation || definition.operation !== 'query') return undefined;
    else operation = definition;
  }
  if (operation?.selectionSet.selections.length !== 1) return undefined;
  const writer = new FormWriter(fragments);
  const form = writer.write(operation.selectionSet, schema.getQueryType());
  const hasAll = writer.used.size === fragments.size && fragments.size === definitions.length - 1;
  return form?.startsWith('__schema{') && hasAll ? shortened(`{${form}}`) : undefined;
}

class FormWriter {
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly used = new Set<string>();
  #steps = 0;

  constructor(fragments: ReadonlyMap<string, FragmentDefinitionNode>) {
    this.#fragments = fragments;
  }

  write(set: SelectionSetNode, type: GraphQLNamedType | null | undefined): string | undefined {
    const fields = new Map<string, string>();
    if (!isObjectType(type) || !this.#add(fields, set, type)) return undefined;
    return [...fields.keys()]
      .sort()
      .map((name) => fields.get(name))
      .join();
  }

  #add(fields: Map<string, string>, { selections }: SelectionSetNode, type: GraphQLObjectType): boolean {
    return selections.every((selection) => {
      if (++this.#steps > STEPS_MAX || selection.directives?.length) return false;
      if (selection.kind === Kind.FRAGMENT_SPREAD) {
        const fragment = this.#fragments.get(selection.name.value);
        this.used.add(selection.name.value);
        return fragment?.typeCondition.name.value === type.name && this.#add(fields, fragment.selectionSet, type);
      }
      if (selection.kind !== Kind.FIELD || selection.alias || fields.has(selection.name.value)) return false;
      const written = this.#field(selection, type);
      if (written !== undefined) fields.set(selection.name.value, written);
      return written !== undefined;
    });
  }

  #field({ name: { value: name }, arguments: given = [], selectionSet }: FieldNode, type: GraphQLObjectType) {
    const field = name === SchemaMetaFieldDef.name ? SchemaMetaFieldDef : type.getFields()[name];
    const below = selectionSet && this.write(selectionSet, field && getNamedType(field.type));
    if (selectionSet && below === undefined) return undefined;
    const values = given.map((argument) => print(argument).replaceAll(' ', '')).join();
    return `${name}${values && `(${values})`}${below === undefined ? '' : `{${below}}`}`;
  }
}

/** Without the levels of `ofType` that are null. */
function shortened(form: string): string {
  return form.replace(/((?:ofType\{kind,name,)*ofType\{kind,name)(\}+)/g, (whole, _, closing: string) => {
    const depth = whole.split('ofType').length - 1;
    if (depth <= TYPE_DEPTH) return whole;
    return `${Array(TYPE_DEPTH).fill('ofType{kind,name').join()}${closing.slice(depth - TYPE_DEPTH)}`;
  });
}

// The code generator's knowledge of modules. A new module of the schema is selected, and can be unset, without a change
// of the operations.

import { isObjectType, parse, Source } from 'graphql';

/** @typedef {import('graphql').GraphQLSchema} Schema */

/** @param {string} name */
const capital = (name) => name.replace(/^./, (letter) => letter.toUpperCase());
/** @param {string} name */
const camel = (name) => name.replace(/^./, (letter) => letter.toLowerCase());

/**
 * The modules of a type: the fields that have a `replace…` and a `delete…` mutation.
 * @param {Schema} schema
 * @param {string} typeName for example `HttpsEdgeRoute`.
 * @returns {string[]} their fields, in camelCase.
 */
export function modulesOf(schema, typeName) {
  const type = schema.getType(typeName);
  const mutations = schema.getMutationType()?.getFields() ?? {};
  return Object.keys(isObjectType(type) ? type.getFields() : {}).filter((field) => {
    const name = `${typeName}${capital(field)}`;
    return `replace${name}` in mutations && `delete${name}` in mutations;
  });
}

/**
 * The mutations that unset modules: `UnsetHttpsEdgeRouteCircuitBreaker`, and so on.
 * @param {Schema} schema
 * @returns {{ location: string, document: import('graphql').DocumentNode }[]} empty if there are no modules.
 */
export function unsetMutations(schema) {
  const mutations = schema.getMutationType()?.getFields() ?? {};
  const texts = modulesByHost(schema).flatMap(([typeName, fields]) =>
    fields.map((field) => {
      const name = `${typeName}${capital(field)}`;
      const args = mutations[`delete${name}`]?.args ?? [];
      const declared = args.map((arg) => `$${arg.name}: ${arg.type}`).join(', ');
      const passed = args.map((arg) => `${arg.name}: $${arg.name}`).join(', ');
      return `mutation Unset${name}(${declared}) { delete${name}(${passed}) { __typename } }`;
    }),
  );
  const location = 'the mutations that unset modules';
  return texts.length > 0 ? [{ location, document: parse(new Source(texts.join('\n'), location)) }] : [];
}

/**
 * The TypeScript of a table that finds those mutations by the kind of the host and the field of the module.
 * @param {Schema} schema
 * @returns {string[]}
 */
export function unsetTable(schema) {
  const hosts = modulesByHost(schema);
  if (hosts.length === 0) return [];
  return [
    '',
    '/** What unsets each module, by the kind of edge or route and by the field of the module. */',
    'export const unsetOperations = {',
    ...hosts.flatMap(([typeName, fields]) => [
      `  ${camel(typeName)}: {`,
      ...fields.map((field) => `    ${field}: Unset${typeName}${capital(field)},`),
      '  },',
    ]),
    '};',
  ];
}

/**
 * @param {Schema} schema
 * @returns {[typeName: string, fields: string[]][]} without types that have no modules.
 */
function modulesByHost(schema) {
  return Object.keys(schema.getTypeMap())
    .sort()
    .map((name) => /** @type {[string, string[]]} */ ([name, modulesOf(schema, name)]))
    .filter(([, fields]) => fields.length > 0);
}

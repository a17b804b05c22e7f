// Every resource → one schema and the table of routes.

import { builder } from './builder/builder.ts';
import * as resources from './resources/index.ts';

export const routes = Object.values(resources).flatMap((resource) => resource.routes);
// Sorting would build it a second time, in every process; the file schema.graphql is sorted by who prints it.
export const schema = builder.toSchema({ sortSchema: false });
schema.description =
  'The management API of a tunnel gateway. Begin with `viewer`, which says who you are; then with the lists, such as `credentials`, ' +
  '`endpoints` and `reservedDomains`, whose objects `node` finds again by their ids. Each kind of object has `create…`, ' +
  '`update…` and `delete…`, and a subscription `…Changed`; `changes` watches all kinds. Send an API key as ' +
  '`Authorization: Bearer …`: only introspection needs none. Every list is in pages of at most 100.';

// Every resource → one schema and the table of routes.

import { builder } from './builder/builder.ts';
import * as resources from './resources/index.ts';

export const routes = Object.values(resources).flatMap((resource) => resource.routes);
// Sorting would build it a second time, in every process; the file schema.graphql is sorted by who prints it.
export const schema = builder.toSchema({ sortSchema: false });

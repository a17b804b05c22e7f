// Every resource → one schema and the table of routes.

import { builder } from './builder/builder.ts';
import * as resources from './resources/index.ts';

export const routes = Object.values(resources).flatMap((resource) => resource.routes);
export const schema = builder.toSchema();

// What Prisma's schema says of models, read once for all who ask.

import { getDatamodel } from '../generated/pothos.ts';
import type { Prisma } from '../generated/prisma/client.ts';

export const datamodel = getDatamodel();

type Field = (typeof datamodel)['datamodel']['models'][string]['fields'][number];

/** The columns and relations of a model. */
export const fieldsOfModel = (model: Prisma.ModelName): readonly Field[] =>
  datamodel.datamodel.models[model]?.fields ?? [];

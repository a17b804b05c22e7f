// The objects of traffic events, with what the modules of this gateway report.

import { moduleDescriptors } from '../../edge/modules/index.ts';
import { trafficObjectsOf } from './objects.ts';

export const trafficObjects = trafficObjectsOf(moduleDescriptors.flatMap(({ report }) => report ?? []));

// Fills the sample of a dry run with a captured request.

import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { ApiFailure, toApiFailure } from '../../../../data/client/client.ts';
import { announce } from '../../../../ui/feedback/toast.tsx';
import { loadSample, type Sample } from './captured-sample.ts';

export interface CapturedSampleState {
  /** What the captured request had and the sample lacks; undefined when none was used. */
  lacks: readonly string[] | undefined;
  error: ApiFailure | undefined;
  use: (id: string) => Promise<void>;
}

/** The name of the parameter in the address of a page that says which captured request to use. */
export const SAMPLE_PARAMETER = 'sample';

/** @param fill takes the sample; also at once, when the address of the page names a captured request. */
export function useCapturedSample(fill: (sample: Sample) => void): CapturedSampleState {
  const [lacks, setLacks] = useState<readonly string[]>();
  const [error, setError] = useState<ApiFailure>();
  const wanted = useLocation().query[SAMPLE_PARAMETER];
  async function use(id: string) {
    setError(undefined);
    try {
      const found = await loadSample(id);
      if (!found) return setError(new ApiFailure('This request isn’t kept any more.'));
      fill(found.sample);
      setLacks(found.lacks);
      announce('The captured request is in the form below.');
    } catch (thrown) {
      setError(toApiFailure(thrown));
    }
  }
  useEffect(() => {
    if (wanted) void use(wanted);
  }, [wanted]);
  return { lacks, error, use };
}

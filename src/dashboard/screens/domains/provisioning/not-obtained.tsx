import { viewer } from '../../../data/session/session.ts';
import { Note } from '../../../ui/feedback/note.tsx';

/** Shown where the operator has not agreed to the terms of a certificate authority. */
export function NotObtained({ isInForce }: { isInForce: boolean }) {
  return (
    <Note variant="warn">
      <p>
        This gateway obtains no certificates: its operator has not agreed to the terms of a certificate authority.{' '}
        {isInForce
          ? 'Visitors see the one that was obtained until it ends; it is not renewed.'
          : 'Visitors see one of its development authority, and their browsers warn them.'}{' '}
        “{isInForce ? 'Show another' : 'Upload or choose one'}” has them see one of your own.
        {viewer.value?.isAdmin && (
          <>
            {' '}
            To have certificates obtained, start the gateway with <code>ACME_TERMS_AGREED=true</code>.
          </>
        )}
      </p>
    </Note>
  );
}

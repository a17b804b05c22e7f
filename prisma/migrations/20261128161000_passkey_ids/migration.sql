-- Ids of passkeys began as those of provisioning keys do, so that nothing could find them by their ids alone. One that a gateway of
-- an earlier version adds meanwhile keeps such an id: it signs in and is removed as before.
UPDATE "passkey" SET "id" = 'pky_' || substr("id", 4) WHERE "id" LIKE 'pk\_%';

-- AlterEnum
ALTER TYPE "EdgeKind" ADD VALUE 'CLOUD';

-- AlterEnum
ALTER TYPE "EndpointType" ADD VALUE 'CLOUD';

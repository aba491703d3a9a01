/*
** The library of packaging/java is for one release of sqlite-jdbc: Java finds its functions by name
** alone, and those of another release may take other arguments. So Java calls this JNI_OnLoad, which
** looks at the release and then calls that of sqlite-jdbc (NativeDB.c, compiled with another name for
** it). If the release is another one it throws an UnsatisfiedLinkError. sqlite-jdbc logs that, and
** loads its own library instead.
**
** HP_JDBC_RELEASE is the release, as a string.
*/
#include <jni.h>
#include <stdio.h>
#include <string.h>

jint hpJdbcOnLoad(JavaVM *vm, void *reserved);

/* The release of the sqlite-jdbc that loads us, or NULL with an exception. */
static jstring releaseOf(JNIEnv *env){
  jclass loader = (*env)->FindClass(env, "org/sqlite/SQLiteJDBCLoader");
  jmethodID get;
  if( loader==NULL ) return NULL;
  get = (*env)->GetStaticMethodID(env, loader, "getVersion", "()Ljava/lang/String;");
  if( get==NULL ) return NULL;
  return (jstring)(*env)->CallStaticObjectMethod(env, loader, get);
}

static void refuse(JNIEnv *env, const char *zFound){
  char zWhy[400];
  jclass error = (*env)->FindClass(env, "java/lang/UnsatisfiedLinkError");
  if( error==NULL ) return;
  snprintf(zWhy, sizeof(zWhy), "hpsqlite: this library is for sqlite-jdbc %s and not for %.40s, "
           "which runs on its own SQLite: take the folder of that release, or use sqlite-jdbc %s",
           HP_JDBC_RELEASE, zFound, HP_JDBC_RELEASE);
  (*env)->ThrowNew(env, error, zWhy);
}

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved){
  JNIEnv *env;
  jstring release;
  const char *zRelease;
  int same;

  if( (*vm)->GetEnv(vm, (void**)&env, JNI_VERSION_1_2)!=JNI_OK ) return JNI_ERR;
  release = releaseOf(env);
  if( (*env)->ExceptionCheck(env) || release==NULL ) return JNI_ERR;
  zRelease = (*env)->GetStringUTFChars(env, release, NULL);
  if( zRelease==NULL ) return JNI_ERR;
  same = strcmp(zRelease, HP_JDBC_RELEASE)==0;
  if( !same ) refuse(env, zRelease);
  (*env)->ReleaseStringUTFChars(env, release, zRelease);
  return same ? hpJdbcOnLoad(vm, reserved) : JNI_ERR;
}
